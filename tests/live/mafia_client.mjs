// Drives the TypeScript package against a service; reads commands as JSON lines, answers each with one.
import { createInterface } from 'node:readline';
import { AgentConnection, CallError, RemoteAgent } from './dist/index.js';

const { url, calls } = JSON.parse(process.argv[2]);
const connection = new AgentConnection(url, { timeoutMs: 60_000, retryMs: 20 });
const agents = new Map();

function agent(id, on = connection) {
  if (!agents.has(id)) agents.set(id, new RemoteAgent({ id, name: id, connection: on }));
  return agents.get(id);
}

async function streamed(stream, most = Infinity) {
  const chunks = [];
  for await (const chunk of stream) {
    chunks.push([chunk, Date.now()]);
    if (chunks.length === most) break;
  }
  return chunks;
}

async function one(id, method, player = agent(id)) {
  const { context, info } = calls[id][method];
  const answer = player[method](context, info);
  return method === 'think' || method === 'say' ? streamed(answer) : answer;
}

const commands = {
  async both() {
    const methods = ['think', 'nightAction', 'say', 'vote'];
    const work = ['p1', 'p2'].flatMap((id) => methods.map(async (method) => [id, method, await one(id, method)]));
    return Promise.all(work);
  },
  think: () => one('p1', 'think'),
  vote: () => one('p1', 'vote'),
  async leave() {
    const { context, info } = calls.p1.think;
    return streamed(agent('p1').think(context, info), 1);
  },
  async late() {
    const impatient = new AgentConnection(url, { timeoutMs: 200 });
    const player = new RemoteAgent({ id: 'p1', name: 'p1', connection: impatient });
    const begun = Date.now();
    try {
      return [await one('p1', 'vote', player), null];
    } catch (error) {
      return [error instanceof CallError, String(error), Date.now() - begun];
    } finally {
      impatient.close();
    }
  },
  async nobody() {
    const lost = new AgentConnection('ws://127.0.0.1:9', { timeoutMs: 150, retryMs: 20 });
    try {
      return await one('p1', 'vote', new RemoteAgent({ id: 'p1', name: 'p1', connection: lost }));
    } catch (error) {
      return [error instanceof CallError, String(error)];
    }
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await commands[line]().catch((error) => ({ error: String(error) }));
  console.log(JSON.stringify(answer ?? null));
}
connection.close();
