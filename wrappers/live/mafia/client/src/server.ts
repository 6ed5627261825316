/** Serves agents to hosts elsewhere, such as `parlour host mafia --remote ws://…`: the other end of `RemoteAgent`. */

import { randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import WebSocket, { WebSocketServer } from 'ws';
import type { GameState, Method, PrivateInfo, PublicInfo, ServableAgent } from './types.js';

export interface AgentServerOptions {
  /** Default 3010; 0 takes a free one. */
  port?: number;
  /** Default 127.0.0.1: this machine only. */
  host?: string;
  /** What clients must bear (`Authorization: Bearer …`). Default: everybody is let in. */
  accessToken?: string;
  /** Milliseconds for a call, from its beginning to its end. Default 25,000. */
  timeoutMs?: number;
}

/** Bytes of the longest message. */
const MESSAGE_LIMIT = 2 ** 22;
/** Calls that may run at once on one connection. */
const CALLS = 64;
/** Agents that are remembered; beyond, those longest unused are forgotten. */
const AGENTS = 1_000;
const METHODS: readonly string[] = ['think', 'say', 'nightAction', 'vote'];

interface Call {
  id: number | string;
  method: Method;
  context: GameState;
  info: PrivateInfo | PublicInfo;
  agent?: string;
}

export class AgentServer {
  /** Where it listens, once started. */
  url = '';
  private readonly options: Required<Omit<AgentServerOptions, 'accessToken'>> & AgentServerOptions;
  private readonly agents = new Map<string, ServableAgent>();
  private http: Server | undefined;
  private sockets: WebSocketServer | undefined;

  /** @param make makes the agent of an id and a name, when it is first called in a game */
  constructor(
    private readonly make: (id: string, name: string) => ServableAgent,
    options: AgentServerOptions = {},
  ) {
    this.options = { port: 3010, host: '127.0.0.1', timeoutMs: 25_000, ...options };
  }

  async start(): Promise<void> {
    const http = createServer((_, response) => response.writeHead(426).end('this is a WebSocket\n'));
    this.sockets = new WebSocketServer({
      server: http,
      maxPayload: MESSAGE_LIMIT,
      // Pages of other sites send an origin; programs do not.
      verifyClient: ({ req, origin }: { req: IncomingMessage; origin?: string }) => !origin && this.allowed(req),
    });
    this.sockets.on('connection', (socket, request) => {
      const client = new URL(request.url ?? '/', 'ws://x').searchParams.get('client') ?? randomUUID();
      new Client(socket, client, this.options.timeoutMs, (key, call) => this.agent(key, call));
    });
    await new Promise<void>((resolve, reject) => {
      http.once('error', reject);
      http.listen(this.options.port, this.options.host, resolve);
    });
    this.http = http;
    const { address, port, family } = http.address() as AddressInfo;
    this.url = family === 'IPv6' ? `ws://[${address}]:${port}` : `ws://${address}:${port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets?.clients ?? []) socket.terminate();
    this.sockets?.close();
    await new Promise<void>((resolve) => (this.http ? this.http.close(() => resolve()) : resolve()));
  }

  private allowed(request: IncomingMessage): boolean {
    if (this.options.accessToken === undefined) return true;
    const given = Buffer.from(request.headers.authorization ?? '');
    const expected = Buffer.from(`Bearer ${this.options.accessToken}`);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  private agent(client: string, call: Call): ServableAgent {
    const id = 'self' in call.info ? call.info.self.id : call.agent;
    if (id === undefined) throw new Error(`whose ${call.method} is it? Name the agent in "agent"`);
    const key = JSON.stringify([client, call.context.gameId, id]);
    const name = call.context.players.find((player) => player.id === id)?.name ?? id;
    const agent = this.agents.get(key) ?? this.make(id, name);
    this.agents.delete(key); // and last again
    this.agents.set(key, agent);
    for (const oldest of this.agents.keys()) {
      if (this.agents.size <= AGENTS) break;
      this.agents.delete(oldest);
    }
    if ('self' in call.info && call.info.self.role !== 'unknown') agent.role = call.info.self.role;
    return agent;
  }
}

/** One connection and its running calls. */
class Client {
  private readonly running = new Map<number | string, () => void>();

  constructor(
    private readonly socket: WebSocket,
    private readonly client: string,
    private readonly timeoutMs: number,
    private readonly agent: (client: string, call: Call) => ServableAgent,
  ) {
    socket.on('message', (data) => this.receive(String(data)));
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      for (const giveUp of this.running.values()) giveUp();
    });
  }

  private send(message: { id: number | string | null; [field: string]: unknown }): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private receive(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return this.send({ id: null, error: 'no JSON' });
    }
    const id = isObject(message) ? message['id'] : undefined;
    if (!isObject(message) || (typeof id !== 'number' && typeof id !== 'string')) {
      return this.send({ id: null, error: 'no call: send {id, method, context, info}' });
    }
    if (message['cancel'] === true) {
      this.running.get(id)?.();
      return;
    }
    if (this.running.has(id)) return this.send({ id: null, error: `a call with id ${id} is still running` });
    if (this.running.size >= CALLS) return this.send({ id, error: `${CALLS} calls are running on this connection` });
    if (!isCall(message)) return this.send({ id, error: 'no call: send {id, method, context, info}' });
    void this.answer(message);
  }

  /** Answer a call. It ends when the agent has answered, is late, or nobody waits any longer. */
  private async answer(call: Call): Promise<void> {
    let over = false;
    let stop = (): void => undefined;
    const ended = new Promise<'late' | 'given up'>((resolve) => {
      const timer = setTimeout(() => resolve('late'), this.timeoutMs);
      stop = () => clearTimeout(timer);
      this.running.set(call.id, () => resolve('given up'));
    });
    const work = this.work(call, () => over).then(
      (result) => ({ id: call.id, done: true, ...(result === undefined ? {} : { result }) }),
      (error: unknown) => ({ id: call.id, error: error instanceof Error ? error.message : String(error) }),
    );
    const end = await Promise.race([work, ended]);
    over = true;
    stop();
    this.running.delete(call.id);
    if (end === 'late') this.send({ id: call.id, error: `no answer within ${this.timeoutMs} ms` });
    else if (end !== 'given up') this.send(end);
  }

  private async work(call: Call, over: () => boolean): Promise<unknown> {
    const agent = this.agent(this.client, call);
    if (call.method === 'nightAction') return agent.nightAction(call.context, call.info as PrivateInfo);
    if (call.method === 'vote') return agent.vote(call.context, call.info as PublicInfo);
    const stream =
      call.method === 'think'
        ? agent.think(call.context, call.info as PrivateInfo)
        : agent.say(call.context, call.info as PublicInfo);
    for await (const chunk of stream) {
      if (over()) return undefined; // leaving the loop ends the stream
      if (chunk !== '') this.send({ id: call.id, chunk });
    }
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCall(value: unknown): value is Call {
  if (!isObject(value) || !isObject(value['context']) || !isObject(value['info'])) return false;
  const known = typeof value['method'] === 'string' && METHODS.includes(value['method']);
  const named = value['agent'] === undefined || typeof value['agent'] === 'string';
  return known && named && Array.isArray(value['context']['players']);
}
