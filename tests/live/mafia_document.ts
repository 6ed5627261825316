// The types of the AgentPolicy document, and what has to compile against them under `strict`, in both directions.
import {
  AgentConnection,
  AgentServer,
  RemoteAgent,
  type AgentPolicy as OurPolicy,
  type GameState as OurState,
  type NightAction as OurAction,
  type PrivateInfo as OurPrivate,
  type PublicInfo as OurPublic,
  type VoteAction as OurVote,
} from './index.js';

type Role = 'mafia' | 'doctor' | 'sheriff' | 'villager';
type Phase =
  | 'SETUP' | 'NIGHT_ACTIONS' | 'MORNING_REVEAL' | 'DAY_DISCUSSION' | 'DAY_VOTING' | 'RESOLUTION' | 'END';
interface Player { id: string; name: string; role: Role; alive: boolean; eliminatedRound: number | null }
interface VotingRound { round: number; eliminated: string | null; votes: Record<string, string> }
interface GameState {
  gameId: string; phase: Phase; dayNumber: number; roundNumber: number;
  players: Player[]; alivePlayers: Player[]; deadPlayers: Player[];
  mafiaCount: number; townCount: number; winner: 'town' | 'mafia' | null;
  lastNightResult: { killed: Player | null; protected: Player | null; prevented: boolean } | null;
  votingHistory: VotingRound[];
}
interface PublicInfo {
  gameId: string; phase: Phase; dayNumber: number; roundNumber: number;
  alivePlayers: Array<{ id: string; name: string }>;
  deadPlayers: Array<{ id: string; name: string; role?: string; eliminatedRound: number }>;
  lastNightResult: { killed: string | null; protected: string | null; prevented: boolean } | null;
  votingHistory: Array<{ round: number; eliminated: string | null; votes: Record<string, string> }>;
}
interface PrivateInfo {
  self: Player; gameState: GameState;
  privateKnowledge: {
    mafiaTeammates?: Player[]; lastProtected?: string;
    investigationResults: Array<{ target: Player; isMafia: boolean; round: number }>;
  };
}
interface NightAction { actionType: 'KILL' | 'PROTECT' | 'INVESTIGATE'; targetId: string; metadata?: Record<string, any> }
interface VoteAction { targetId: string | null; reason?: string }
interface AgentConfig {
  type: 'scripted' | 'llm';
  llmConfig?: { model: string; apiKey: string; temperature?: number; maxTokens?: number };
  scriptedConfig?: {
    personality?: 'aggressive' | 'cautious' | 'analytical' | 'social'; lieFrequency?: number; suspicionThreshold?: number;
  };
}
interface AgentPolicy {
  readonly id: string; readonly name: string; role: Role | null; config: AgentConfig;
  think(context: GameState, privateInfo: PrivateInfo): AsyncGenerator<string>;
  say(context: GameState, publicInfo: PublicInfo): AsyncGenerator<string>;
  nightAction(context: GameState, privateInfo: PrivateInfo): Promise<NightAction>;
  vote(context: GameState, publicInfo: PublicInfo): Promise<VoteAction>;
}

// An agent of ours in the document's host, which calls it with its own types and takes its answers as them.
const ours: AgentPolicy = new RemoteAgent({ id: 'p1', name: 'Ann', connection: new AgentConnection('ws://x') });
export async function host(agent: RemoteAgent, state: GameState, own: PrivateInfo, open: PublicInfo): Promise<void> {
  const said: AsyncGenerator<string>[] = [agent.think(state, own), agent.say(state, open)];
  const action: NightAction = await agent.nightAction(state, own);
  const vote: VoteAction = await agent.vote(state, open);
  void [ours, said, action, vote];
}

// The document's agent at our server.
export class Theirs implements AgentPolicy {
  role: Role | null = null;
  config: AgentConfig = { type: 'scripted', scriptedConfig: { personality: 'social' } };
  constructor(readonly id: string, readonly name: string) {}
  async *think(_: GameState, own: PrivateInfo): AsyncGenerator<string> { yield `I am ${own.self.role}.`; }
  async *say(): AsyncGenerator<string> { yield 'I have '; yield 'nothing to report.'; }
  async nightAction(context: GameState, own: PrivateInfo): Promise<NightAction> {
    const other = context.players.find((one) => one.alive && one.id !== this.id && one.id !== own.privateKnowledge.lastProtected);
    const actionType = { mafia: 'KILL', doctor: 'PROTECT', sheriff: 'INVESTIGATE' } as const;
    return { actionType: actionType[this.role as 'mafia'], targetId: other?.id ?? this.id, metadata: { by: 'Theirs' } };
  }
  async vote(context: GameState): Promise<VoteAction> {
    const other = context.alivePlayers.find((one) => one.id !== this.id);
    return { targetId: other?.id ?? null, reason: 'somebody has to go' };
  }
}
export const server = new AgentServer((id, name) => new Theirs(id, name), { port: 0 });

// Every type of theirs is one of ours; and what agents answer, and who they are, also the other way round.
export const inward: [OurState, OurPrivate, OurPublic, OurAction, OurVote, OurPolicy] =
  {} as [GameState, PrivateInfo, PublicInfo, NightAction, VoteAction, AgentPolicy];
export const outward: [NightAction, VoteAction, AgentPolicy, PublicInfo] = {} as [OurAction, OurVote, OurPolicy, OurPublic];
