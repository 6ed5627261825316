/** One WebSocket to the Python side, shared by any number of agents; it comes back after it was lost. */

import { randomUUID } from 'node:crypto';
import WebSocket from 'ws';
import type { GameState, Method, PrivateInfo, PublicInfo } from './types.js';

export interface ConnectionOptions {
  /** Milliseconds for a call, from its beginning to its end. Default 30,000. */
  timeoutMs?: number;
  /** Milliseconds before the first try to reconnect; doubled up to ten times as many. Default 250. */
  retryMs?: number;
  /** What the service asks of its clients, if it does. */
  accessToken?: string;
}

/** A call that got no answer: it was late, the connection was lost, or the service refused it. */
export class CallError extends Error {
  override readonly name = 'CallError';
}

interface Part {
  chunk?: string;
  done?: boolean;
  result?: unknown;
  error?: string;
  /** Not from the service: the connection is gone. */
  lost?: boolean;
}

/** What of one call has come and was not yet taken. */
class Inbox {
  private readonly parts: Part[] = [];
  private wake: (() => void) | undefined;

  put(part: Part): void {
    this.parts.push(part);
    this.wake?.();
  }

  async take(until: number): Promise<Part> {
    for (;;) {
      const part = this.parts.shift();
      if (part !== undefined) return part;
      const left = until - Date.now();
      if (left <= 0) throw new CallError('no answer in time');
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.wake = undefined;
    }
  }
}

export class AgentConnection {
  private readonly client = randomUUID();
  private readonly inboxes = new Map<number, Inbox>();
  private readonly options: Required<Omit<ConnectionOptions, 'accessToken'>> & ConnectionOptions;
  private socket: WebSocket | undefined;
  private opening: Promise<WebSocket> | undefined;
  private last = 0;
  private closed = false;

  /** @param url of the service, such as ws://127.0.0.1:3010 */
  constructor(
    readonly url: string,
    options: ConnectionOptions = {},
  ) {
    this.options = { timeoutMs: 30_000, retryMs: 250, ...options };
  }

  /**
   * Forward a call; yields the chunks of a stream and returns the result of an action.
   * If the connection is lost before anything has come, the call is sent again.
   */
  async *call(
    method: Method,
    agent: string,
    context: GameState,
    info: PrivateInfo | PublicInfo,
  ): AsyncGenerator<string, unknown> {
    const until = Date.now() + this.options.timeoutMs;
    for (;;) {
      const socket = await this.open(until);
      const id = ++this.last;
      const inbox = new Inbox();
      this.inboxes.set(id, inbox);
      let ended = false;
      let begun = false;
      try {
        socket.send(JSON.stringify({ id, agent, method, context, info }));
        for (;;) {
          const part = await inbox.take(until);
          ended = part.error !== undefined || part.done === true;
          if (part.lost === true && !begun && !this.closed) break;
          if (part.error !== undefined) throw new CallError(`${method} of ${agent}: ${part.error}`);
          if (part.done === true) return part.result;
          if (typeof part.chunk === 'string') {
            begun = true;
            yield part.chunk;
          }
        }
      } finally {
        this.inboxes.delete(id);
        // Late, or the consumer has left the loop: the service need not go on.
        if (!ended && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ id, cancel: true }));
      }
    }
  }

  /** Close for good. Running calls fail. */
  close(): void {
    this.closed = true;
    this.socket?.terminate();
    this.lose('the connection was closed');
  }

  /** Return the open socket; connect, again and again, until the time is up. */
  private async open(until: number): Promise<WebSocket> {
    let wait = this.options.retryMs;
    for (;;) {
      if (this.closed) throw new CallError('the connection was closed');
      if (this.socket?.readyState === WebSocket.OPEN) return this.socket;
      this.opening ??= this.connect(until).finally(() => {
        this.opening = undefined;
      });
      try {
        return await this.opening;
      } catch (error) {
        if (Date.now() + wait >= until) throw new CallError(`cannot reach ${this.url}: ${String(error)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(2 * wait, 10 * this.options.retryMs);
    }
  }

  private connect(until: number): Promise<WebSocket> {
    const url = new URL(this.url);
    url.searchParams.set('client', this.client); // by it the service finds our agents again
    const headers = this.options.accessToken ? { Authorization: `Bearer ${this.options.accessToken}` } : {};
    const handshakeTimeout = Math.max(1, until - Date.now());
    const socket = new WebSocket(url, { headers, handshakeTimeout });
    return new Promise((resolve, reject) => {
      socket.on('message', (data) => this.receive(String(data)));
      socket.on('error', reject); // and 'close' follows
      socket.on('close', () => {
        reject(new CallError('the connection was lost'));
        if (this.socket === socket) this.lose('the connection was lost');
      });
      socket.on('open', () => {
        this.socket = socket;
        resolve(socket);
      });
    });
  }

  private receive(text: string): void {
    let reply: Part & { id?: unknown };
    try {
      reply = JSON.parse(text);
    } catch {
      return; // answers no call
    }
    if (typeof reply === 'object' && reply !== null && typeof reply.id === 'number') {
      this.inboxes.get(reply.id)?.put(reply);
    }
  }

  private lose(problem: string): void {
    this.socket = undefined;
    for (const inbox of this.inboxes.values()) inbox.put({ error: problem, lost: true });
  }
}
