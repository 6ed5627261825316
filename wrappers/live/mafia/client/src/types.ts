/** The interfaces of the AgentPolicy document, and what the forwarding protocol adds to them. */

export type Role = 'mafia' | 'doctor' | 'sheriff' | 'villager';

export type Phase =
  | 'SETUP'
  | 'NIGHT_ACTIONS'
  | 'MORNING_REVEAL'
  | 'DAY_DISCUSSION'
  | 'DAY_VOTING'
  | 'RESOLUTION'
  | 'END';

/** `unknown`: the reader may not know the role of a living player. */
export interface Player {
  id: string;
  name: string;
  role: Role | 'unknown';
  alive: boolean;
  eliminatedRound: number | null;
}

export interface VotingRound {
  round: number;
  eliminated: string | null;
  votes: Record<string, string>;
}

/** Something said by day, read as an act; the document's context has none, and none is needed. */
export interface Statement {
  playerId: string;
  round: number;
  type: 'defense' | 'accusation' | 'claim' | 'general';
  content: string;
  targetId: string | null;
  role: Role | null;
  isMafia: boolean | null;
}

export interface GameState {
  gameId: string;
  phase: Phase;
  dayNumber: number;
  roundNumber: number;
  players: Player[];
  alivePlayers: Player[];
  deadPlayers: Player[];
  mafiaCount: number;
  townCount: number;
  winner: 'town' | 'mafia' | null;
  lastNightResult: {
    killed: Player | null;
    protected: Player | null;
    prevented: boolean;
  } | null;
  votingHistory: VotingRound[];
  statements?: Statement[];
}

export interface PublicInfo {
  gameId: string;
  phase: Phase;
  dayNumber: number;
  roundNumber: number;
  alivePlayers: Array<{ id: string; name: string }>;
  deadPlayers: Array<{ id: string; name: string; role?: string; eliminatedRound: number }>;
  lastNightResult: {
    killed: string | null;
    protected: string | null;
    prevented: boolean;
  } | null;
  votingHistory: VotingRound[];
}

export interface PrivateInfo {
  self: Player;
  gameState: GameState;
  privateKnowledge: {
    mafiaTeammates?: Player[];
    lastProtected?: string;
    investigationResults: Array<{ target: Player; isMafia: boolean; round: number }>;
    nightActions?: Record<string, string>;
  };
}

export interface NightAction {
  actionType: 'KILL' | 'PROTECT' | 'INVESTIGATE';
  targetId: string;
  metadata?: Record<string, any>;
}

export interface VoteAction {
  targetId: string | null;
  reason?: string;
}

export interface AgentConfig {
  type: 'scripted' | 'llm';
  llmConfig?: {
    model: string;
    apiKey: string;
    temperature?: number;
    maxTokens?: number;
  };
  scriptedConfig?: {
    personality?: 'aggressive' | 'cautious' | 'analytical' | 'social';
    lieFrequency?: number;
    suspicionThreshold?: number;
  };
}

export interface AgentBase {
  readonly id: string;
  readonly name: string;
  role: Role | null;
  config: AgentConfig;
}

/** The document's interface. A villager does nothing at night: it resolves to null there, as the document's rules say. */
export interface AgentPolicy extends AgentBase {
  think(context: GameState, privateInfo: PrivateInfo): AsyncGenerator<string>;
  say(context: GameState, publicInfo: PublicInfo): AsyncGenerator<string>;
  nightAction(context: GameState, privateInfo: PrivateInfo): Promise<NightAction>;
  vote(context: GameState, publicInfo: PublicInfo): Promise<VoteAction>;
}

/** What can be served: the document's interface, and the same with a null that is typed. */
export interface ServableAgent extends AgentBase {
  think(context: GameState, privateInfo: PrivateInfo): AsyncIterable<string>;
  say(context: GameState, publicInfo: PublicInfo): AsyncIterable<string>;
  nightAction(context: GameState, privateInfo: PrivateInfo): Promise<NightAction | null>;
  vote(context: GameState, publicInfo: PublicInfo): Promise<VoteAction>;
}

export type Method = 'think' | 'say' | 'nightAction' | 'vote';
