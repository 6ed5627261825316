/** What travels (wrappers/live/table/messages.py), and what the page makes of it. */

export interface Schema {
  type?: string | string[];
  enum?: (string | number | boolean | null)[];
  minimum?: number;
  maximum?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
}

export interface AllowedAction {
  action_type: string;
  description: string;
  payload_schema: Schema;
}

export interface Message {
  message_id: string;
  sender_id: string;
  scope: "public" | "private";
  content: string;
  to_agent_ids: string[] | null;
}

export interface MessageIntent {
  scope: "public" | "private";
  content: string;
  to_agent_ids: string[] | null;
}

export interface Action {
  action_type: string;
  payload: Record<string, unknown>;
}

export interface Outcome {
  payoffs?: { agent_id: string; utility: number }[];
  reason?: string;
  /** Of a hand of hold'em. */
  results?: any[];
  [more: string]: unknown;
}

/** What an action pays (envs/core/forecast.py). */
export interface Forecast {
  action_type: string;
  numbers: number[];
  payoffs: Record<string, (number | null)[]>;
  /** The keys of several numbers; then a payoff is a constant and a slope for each. */
  keys: string[];
}

export interface TurnState {
  match_id: string;
  game_id: string;
  agent_id: string;
  phase: string;
  is_my_turn: boolean;
  current_turn_agent_id: string | null;
  game_state: any;
  messages: Message[];
  allowed_actions: AllowedAction[];
  game_over: boolean;
  outcome: Outcome | null;
}

/** A seat: `agent_id` is its name in `TurnState`, `name` that of who sits there. */
export interface Place {
  seat: number;
  agent_id: string;
  name: string | null;
  /** Who played there in the latest match. */
  played?: string | null;
  program: boolean;
  connected: boolean;
  ready: boolean;
  /** Its player wants no further hand for now. */
  out?: boolean;
  waits?: boolean;
}

/** All that the page shows. A client changes it and lets the page know. */
export interface View {
  status: "connecting" | "closed" | "waiting" | "running" | "over";
  seats: Place[];
  you: number | null;
  state: TurnState | null;
  /** What the actions of the turn pay; null where nobody can say. */
  forecasts: Forecast[] | null;
  /** Names the turn under way; controls stay as they are while it does. */
  turn: string;
  /** When the turn ends, on the clock of `performance.now()`; what it counts of the player's time bank. */
  deadline: number | null;
  bank: number;
  timeout: number;
  /** An answer is on its way, and nothing can be done until it is there. */
  busy: boolean;
  notice: string;
  /** The table as SVG, drawn by the server: for wide screens first, for phones last; none before the first. */
  pictures: (string | null)[];
  /** What opens the person's own cards in files of hands. */
  key: string;
  /** A message that was refused; whoever shows it takes it from here. */
  unsaid: string;
  /** Something to bring the seat back that another window has taken. */
  elsewhere: boolean;
  /** This browser has had a seat here that is still held for it. */
  back: boolean;
  /** How many look on. */
  watchers: number;
  /** The number of the match, from 1; 0 before the first. */
  match: number;
  /** What payoffs are counted in, plural. */
  unit: string;
  /** See `Facts`. */
  unset: string[];
  own: boolean;
  /** What fields stand for, in the words of the rules. */
  words: Map<string, string>;
}

/** What the server says of itself in facts.json. */
export interface Facts {
  /** The game's file in games/. */
  page: string;
  game: string;
  seats: number;
  /** What payoffs are counted in, plural. */
  unit: string;
  /** The fields in which −1 stands for nothing, such as no choice. */
  unset: string[];
  /** The state is the game's record, field by field: no name has a meaning of its own. */
  own: boolean;
  /** What short words in names stand for in this game. */
  meanings: Record<string, string>;
  /** How it is played, as Markdown. */
  rules: string;
  /** The game's. */
  options: Record<string, any>;
  /** The table belongs to a lobby, which is two folders above. */
  lobby?: boolean;
}

/** How a number is chosen: the slider's range within the schema's bounds, and values of which each has a button. */
export interface Range {
  low: number;
  high: number;
  start: number;
  step: number;
  presets?: { label: string; value: number; key?: string }[];
}

/** A choice that a person can make before the turn: its button, its key; the first allowed of the actions is played. */
export interface Ahead {
  label: string;
  key: string;
  actions: string[];
}

/** Plays an action of the turn under way. */
export type Act = (action: Action) => void;

/** Somebody who can be written to: everybody (null), or some. */
export interface Reader {
  label: string;
  to: string[] | null;
}

/** The message box: its name, to whom one can write now (nobody: one can only read), and what stands in it. */
export interface Talk {
  title: string;
  readers: Reader[];
  heard: Message[];
}

/** A game's own file: games/<game>.js has it as its default export; games/any.js is for games without. */
export interface GamePage {
  title: string;
  /** Whether its drawing lists the players, so that the page does not. */
  players?: boolean;
  /** Whether the rule and the payoff stand on the board, in one line. */
  aim?: boolean;
  /** The table as `view.state` has it. Nodes that it returns again stay as they are. */
  draw(view: View, act: Act, options: Record<string, any>): Node[];
  /** Controls of the game's own; default: a form for every action. */
  controls?(view: View, act: Act): Node[];
  /** Called when a person clicks an agent in the picture or in the list of agents, in its turn. */
  pick?(agent: string, controls: HTMLElement): void;
  /** A section beside the table; null: none now. */
  beside?(view: View): { title: string; nodes: Node[] } | null;
  /** What can be chosen before the turn comes, if anything. */
  ahead?(view: View): Ahead | null;
  /** Default: everybody hears everything, and everybody can be written to. */
  talk?(view: View): Talk;
  /** Whether people sit down, sit out and leave during a match. */
  sitsOut?: boolean;
  /** What can be taken home during a match: names and files; there is no log then. */
  files?(view: View): string[][];
  /** What the page says while it is hidden who acts; default: others choose in secret. */
  between?: string;
  /** What an action's button says; default: its name. */
  label?(action: AllowedAction, view: View): string;
  /** What stands under an action's fields; default: its description. */
  hint?(action: AllowedAction, view: View): string;
  /** How a number of a payload is chosen; default: by the schema's bounds. */
  range?(action: AllowedAction, field: string, view: View): Range | null;
}

/** Options of a game, by name. */
export type Options = Record<string, string>;

/** What the lobby sends (wrappers/live/lobby/messages.py, tables.py). */
export interface Lobby {
  you: string | null;
  tables: Table[];
  results: Result[];
}

export interface Table {
  table_id: string;
  game: string;
  options: Options;
  status: string;
  seats: { name: string | null; program: boolean; here: boolean }[];
  listed: boolean;
  yours: boolean;
  watchers: number;
}

export interface Result {
  number: number;
  log: boolean;
  game: string;
  ended_at: string;
  reason: string;
  players: { name: string; program: boolean; payoff: number }[];
}

export interface Offer {
  game: string;
  seats: number;
  any_seats: boolean;
  opponents: { name: string; trained: boolean; seats: number[] }[];
  title: string;
  kind: string;
  sentence: string;
  unit: string;
  minutes: number;
  options: Options;
}

export interface Preset {
  title: string;
  game: string;
  seats: number | null;
  opponents: string[];
  options: Options;
}
