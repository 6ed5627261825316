/** `AgentPolicy` over a WebSocket: `RemoteAgent` forwards every call to a service, `AgentServer` is such a service. */

import { AgentConnection, CallError, type ConnectionOptions } from './connection.js';
import type {
  AgentConfig,
  AgentPolicy,
  GameState,
  NightAction,
  PrivateInfo,
  PublicInfo,
  Role,
  VoteAction,
} from './types.js';

export * from './types.js';
export { AgentServer, type AgentServerOptions } from './server.js';
export { AgentConnection, CallError, type ConnectionOptions };

export interface RemoteAgentOptions {
  id: string;
  name: string;
  config?: AgentConfig;
  /** Shared by several agents. */
  connection: AgentConnection;
}

/** A player whose every decision is made by the service at the other end of `connection`. */
export class RemoteAgent implements AgentPolicy {
  readonly id: string;
  readonly name: string;
  role: Role | null = null;
  config: AgentConfig;
  private readonly connection: AgentConnection;

  constructor({ id, name, config, connection }: RemoteAgentOptions) {
    this.id = id;
    this.name = name;
    this.config = config ?? { type: 'scripted' };
    this.connection = connection;
  }

  async *think(context: GameState, privateInfo: PrivateInfo): AsyncGenerator<string> {
    yield* this.connection.call('think', this.id, context, privateInfo);
  }

  async *say(context: GameState, publicInfo: PublicInfo): AsyncGenerator<string> {
    yield* this.connection.call('say', this.id, context, publicInfo);
  }

  /** Resolves to null for a villager: the document's rules have that, its type has not. */
  async nightAction(context: GameState, privateInfo: PrivateInfo): Promise<NightAction> {
    const result = (await this.result('nightAction', context, privateInfo)) ?? null;
    if (result === null || isNightAction(result)) return result as NightAction;
    throw new CallError(`nightAction of ${this.id}: no action in ${JSON.stringify(result)}`);
  }

  async vote(context: GameState, publicInfo: PublicInfo): Promise<VoteAction> {
    const result = await this.result('vote', context, publicInfo);
    if (isVote(result)) return result;
    throw new CallError(`vote of ${this.id}: no vote in ${JSON.stringify(result)}`);
  }

  private async result(
    method: 'nightAction' | 'vote',
    context: GameState,
    info: PrivateInfo | PublicInfo,
  ): Promise<unknown> {
    const call = this.connection.call(method, this.id, context, info);
    for (;;) {
      const next = await call.next();
      if (next.done) return next.value;
    }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isNightAction(value: unknown): value is NightAction {
  return isObject(value) && typeof value['actionType'] === 'string' && typeof value['targetId'] === 'string';
}

function isVote(value: unknown): value is VoteAction {
  return isObject(value) && (value['targetId'] === null || typeof value['targetId'] === 'string');
}
