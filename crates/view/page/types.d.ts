// Types of the page, known in all of its modules. Nothing of this file is served.

interface Signal<T> {
  value: T;
  peek(): T;
}

type Plain = string | number | boolean | null | undefined;
type Prop = Plain | (() => Plain) | ((event: never) => unknown);
/** Attributes, handlers of events, and custom properties of the style. */
type Props = { [name: string]: Prop } & { [Name in keyof HTMLElementEventMap as `on${Name}`]?: (event: HTMLElementEventMap[Name]) => unknown };
/** The element of a tag with classes. */
type ElementOf<T extends string> = T extends `${infer Tag}.${string}` ? ElementOf<Tag> : T extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[T] : HTMLElement;
type Child = Node | string | number | null | undefined | false | (() => string | number | null) | Child[];

/** [from, to) in ns since time zero. */
type TimeRange = [number, number];

interface RecordingInfo {
  id: string;
  file: string;
  name: string;
  machine: string | null;
  format: string;
  cpus: number;
  start_ns: number;
  end_ns: number;
  wall_start: string | null;
  offset_minutes: number | null;
  has: Record<string, boolean>;
  rows: Record<string, number>;
  /** Length of the shortest buckets of the timeline tables. */
  bucket_ns?: number | null;
  health: { level: string; text: string }[];
  missing: { what: string; why: string; cure: string }[];
  /** What the recorder lost and what could not be read, with the time of the first one of a kind. */
  losses?: { ns: number | null; count: number; text: string }[];
  marks: Mark[];
}

interface Mark {
  ns: number;
  name: string;
  finding?: Finding;
}

/** A finding of `explain`. */
interface Finding {
  rule: string;
  sentence: string;
  /** From its first to its last instant; null: it has no place in time. */
  range: TimeRange | null;
  longest: TimeRange[];
  /** The range that was explained; null: as the command chose it. */
  of: TimeRange | null;
}

/** An instant that `--zero-time` finds by its words, of the processes of `--zero-process`. */
interface Landmark {
  at: string;
  of: string;
}

/** What times count from. Without a landmark only the page knows it. */
interface Zero {
  name: string;
  ns: number;
  landmark: Landmark | null;
}

interface Session {
  version: string;
  platform: string;
  recordings: RecordingInfo[];
  tag_files: { id: string; name: string }[];
  views: { name: string; text: string }[];
  start: {
    recording: string;
    time: TimeRange | null;
    process: string | null;
    panel: string | null;
    view: string | null;
  } | null;
}

interface Totals {
  cpu_ns?: number;
  run_ns?: number;
  wait_ns?: number;
  ready_ns?: number;
  busy_ns?: number;
  bytes?: number;
  count?: number;
}

interface Lane {
  id: string;
  kind: string;
  name: string;
  detail: string | null;
  children: boolean;
  start_ns: number | null;
  end_ns: number | null;
  totals: Totals;
  measures: string[];
  path?: string[];
}

interface LanesAnswer {
  total: number;
  from: number;
  lanes: Lane[];
}

/** What a critical path is asked of. */
interface PathOf {
  range: TimeRange;
  /** A pattern as `-p` takes it. */
  process: string | null;
  /** The thread that it ends in; null: the main thread. */
  tid: number | null;
}

/** A row of the list of lanes. */
interface Row {
  key: string;
  lane: Lane;
  depth: number;
  open: boolean;
  pinned: boolean;
  /** A lane that stands here for a wait chain, not by its place in the tree. */
  guest: boolean;
  /** How many rows this row stands for: lanes not loaded yet, or inactive ones. */
  more: number;
  parent: string | null;
  position: number;
  siblings: number;
}

interface FrameHead {
  lane?: string;
  way?: string;
  first_ns?: number;
  bucket_ns?: number;
  columns?: number;
  at_once?: number | null;
  unit?: string;
  series?: string[];
  peaks?: string[];
  /** How each column is written, those of series first: `zero`, `i32` or `f64`. */
  arrays?: string[];
  /** Length of the buckets of which the peaks are the largest ones. */
  peak_ns?: number;
  words?: string[] | Record<string, string[]>;
  /** The commands with the buckets of the peaks. */
  peak_words?: Record<string, string[]>;
  error?: string;
  count?: number | null;
  more?: boolean;
  states?: string[];
  /** Kinds of waits. */
  kinds?: string[];
  names?: string[];
  modules?: string[];
  /** Names of stack tags, of a flame graph. */
  tags?: string[];
  frames?: number;
  total?: number;
}

/** A column as it was written. */
type Numbers = Float64Array | Int32Array;

interface Frame {
  head: FrameHead;
  series: Record<string, Numbers>;
  peaks: Record<string, Numbers>;
}

/** What a lane's picture is made of, with the range that was asked for. */
interface LaneData {
  frame: Frame;
  from: number;
  to: number;
  columns: number;
}

interface Paint {
  lane: string;
  kind: string;
  name: string;
  data: LaneData;
  height: number;
  hue: number;
  scale: number;
}

/** Paints a lane; its answer is what the full height means. */
type Painting = (out: Uint32Array, paint: Paint, palette: Palette) => number;

interface Palette {
  run: number;
  runPeak: number;
  ready: number;
  wait: number;
  disk: number;
  open: number;
  unknown: number;
  unread: number;
  cpu: number;
  cpuPeak: number;
  line: number;
  hues: number[];
  peaks: number[];
  /** Places in `hues`, by the number of a process. */
  order: number[];
}

interface Span {
  start_ns: number;
  end_ns: number;
  state: string;
  cpu: number | null;
  reason: string | null;
  /** Of a wait: `disk`, `sleep` or `other`. */
  kind?: string | null;
  /** Of a region its own name, of a CPU who ran, of a collection its generation. */
  name?: string | null;
}

interface ChainLink {
  lane: string | null;
  name: string;
  start_ns: number;
  end_ns: number;
  state: string;
  by?: string | null;
  /** What ended the link's longest wait. */
  woken_by?: string | null;
  run_ns?: number | null;
  ready_ns?: number | null;
  wait_ns?: number | null;
  unknown_ns?: number | null;
  longest_wait_ns?: number | null;
  longest_wait_method?: string | null;
}

interface At {
  span: Span | null;
  stack: string[] | null;
  /** The frame of the stack that `dump waits` names. */
  method?: string | null;
  waker: { lane: string | null; name: string; ns: number; method?: string | null; stack: string[] | null } | null;
  device: string | null;
  chain: ChainLink[];
  words: string[];
}

/** The span that is chosen, with the lane that it belongs to. */
interface Chosen {
  lane: string;
  name: string;
  at: At;
}

/** A span that was left along its chain, and what the lanes showed. */
interface Followed {
  chosen: Chosen;
  guests: { below: string; lanes: string[] } | null;
  range: TimeRange;
}

type Cell = string | number | boolean | null | Cell[] | { [key: string]: Cell };
type TableRow = { [key: string]: Cell };

interface Answer {
  rows: TableRow[];
  words: string[];
  command: string;
  read: number | null;
  notes: string[];
  ms: number;
}

/** How the reader wants a table: sorted by a column, and with which columns; null: the usual ones. */
interface TableState {
  sort: string;
  down: boolean;
  chosen: string[] | null;
}

interface Column {
  key: string;
  title: string;
  kind: string;
  width: number;
}

interface Hit {
  kind: string;
  name: string;
  lane: string | null;
  count: number;
  time_ns: number | null;
  first_ns: number;
  last_ns: number;
  words: string[];
}

/** The figures of a hit, which come behind all hits. */
type Figures = Pick<Hit, "kind" | "name" | "count" | "time_ns" | "first_ns" | "last_ns">;

interface Density {
  /** null: of all hits of the kind. */
  name: string | null;
  kind: string;
  first_ns: number;
  bucket_ns: number;
  values: number[];
  /** The command that has the values. */
  words?: string[] | null;
}

interface Question {
  id: string;
  title: string;
  /** What a row is of, for a reader who sees it for the first time. */
  about: string;
  view: string;
  needs: string[];
  words: (context: WordContext) => string[];
  columns: string[];
  sort: string;
  filter: string;
}

/** A question as it is written down: what it leaves out is usual; its columns with spaces between. */
type Asking = Pick<Question, "id" | "title" | "about" | "words"> & Partial<Omit<Question, "columns">> & { columns?: string };

interface WordContext {
  range: TimeRange | null;
  process: string | null;
  /** The thread that the panels are about. */
  tid: number | null;
  filter: string;
  measure: string;
  tagFile: string;
  method: string | null;
  top: number;
}

// Classes that modules name without using them.
type LaneStore = import("./lanes/data.js").LaneStore;
type LaneRows = import("./lanes/rows.js").LaneRows;
type Layer = import("./lanes/layer.js").Layer;
type Singles = import("./lanes/singles.js").Singles;
type Table = import("./panels/table.js").Table;

type PolicyMaker = { createPolicy: (name: string, rules: { createScriptURL: (url: string) => string }) => { createScriptURL: (url: string) => unknown } };

interface Picture {
  bitmap: ImageBitmap;
  data: LaneData;
  max: number;
  height: number;
  used: number;
}

type Rect = [x: number, y: number, width: number, height: number];

/** Device pixels from the top of the canvas. */
type Place = { id: string, y: number, clipTop: number, clipBottom: number };

type Sight = { lanes: Lane[], width: number, height: number, scale: number };

type Children = { total: number, lanes: Lane[], loading: boolean };

/** CSS pixels. */
type Band = { id: string, top: number, bottom: number, key: string, clipTop: number };

type Segment = { from: number, to: number, state: string, process: number, thread: number | null, name: string, what: string };

type Path = { segments: Segment[], command: string, words: string[], error: string | null, missing: number };

type Known = { from: number, to: number, frame: Frame | null };

type Shown = { copied: () => Copied } | null;

interface TreeNode {
  row: TableRow;
  key: string;
  name: string;
  depth: number;
  total: number;
  self: number;
  share: number | null;
  below: TreeNode[];
  open: boolean;
}

interface Action {
  group: string;
  name: string;
  keys: string[];
  run: () => unknown;
}

/** An action in the list of its group: its name, its keys with spaces between, and what it does. */
type Entry = [name: string, keys: string, run: () => unknown];

type Item = { name: string, keys?: string, checked?: boolean, off?: boolean, swatch?: number, stay?: boolean, run: () => void } | "-";

type About = { processes?: string | null, thread?: { tid: number, name: string } | null, selection?: TimeRange | null };

/** A range that was looked at, or what panels were about before they were narrowed. */
type Step = { range: TimeRange, about: About | null };

/** A word of a view's text whose value is the text of a signal. */
interface TextWord {
  of: { value: string | null };
  /** Its value at the start of the page, which is left out. */
  start: string | null;
  fits?: (value: string) => boolean;
}

/** A box of a flame graph; its parent is the place of a box, −1: none. */
interface Box {
  depth: number;
  start: number;
  weight: number;
  self: number;
  parent: number;
  name: string;
  module: string | undefined;
  tag: string | undefined;
}

/** A table as texts. */
type Copied = { titles: string[]; cells: string[][] };

/** How the server is asked: the smallest rank goes first; the id names the request for its progress. */
type Asked = { signal?: AbortSignal; rank?: number; id?: string };

/** Columns that are asked for, each of `per` ns. */
type Grid = { from: number; to: number; columns: number; per: number };

/** Words of a view and their values. */
type Pairs = [string, string][];

interface ListOptions<T> {
  /** Scrolls. */
  scroller: HTMLElement;
  /** Of a row, in CSS pixels. */
  height: number;
  make: (item: T, index: number) => HTMLElement;
  /** Two items of one key are one row. */
  key: (item: T, index: number) => string;
  /** Where rows stand; made where absent. */
  body?: HTMLElement;
  /** After other rows have come into sight. */
  onwindow?: () => void;
  /** Rows that stand above it, over the top of what scrolls. */
  above?: (item: T) => number;
}

interface TableOptions {
  label: string;
  instant: (ns: number) => string;
  onpick: (row: TableRow, open: boolean) => void;
  onlight: (row: TableRow | null) => void;
  /** With where the pointer is. */
  onmenu?: (row: TableRow, element: HTMLElement, x?: number) => void;
  /** The colour of a cell's name in the lanes. */
  hue?: (row: TableRow, key: string) => number | null;
  state: TableState;
  /** After the reader chose another order. */
  onstate?: () => void;
  unions?: boolean;
  /** Whether shares are parts of 1. */
  path?: boolean;
}

interface TreeOptions {
  label: string;
  /** Whether lines have a self value. */
  self: boolean;
  /** Whether two stand beside each other. */
  narrow?: boolean;
  onpick: (node: TreeNode, open: boolean) => void;
}

// Functions that modules have for each other. What they do stands at the functions.

type Drag = (element: HTMLElement, event: PointerEvent, move: (event: PointerEvent) => void, end?: (event: PointerEvent) => void) => void;

/** @param options values and texts */
type MakeChoice = (of: Signal<string>, props: Props, options: readonly (readonly [string, string | undefined])[]) => HTMLSelectElement;

/** @param name of the icon */
type MakeTool = (label: string, name: string, onclick: () => unknown, more?: Props) => HTMLButtonElement;

/**
 * @param most characters that are kept
 * @returns without control characters and marks of direction, which could make a name look like another one
 */
type Clean = (text: string, most?: number) => string;

/**
 * @param sample a value of the column
 * @param unions whether waits that overlap count once, as in rows of methods and stack tags
 * @param path whether shares are parts of 1, as in the answer of `dump path`
 */
type ColumnOf = (key: string, sample: Cell | undefined, unions?: boolean, path?: boolean) => Column;

type CellText = (value: Cell | undefined, column: Column, how: { digits: number, instant: (ns: number) => string }) => string;

type CopiedAs = (titles: string[], rows: string[][], form: string) => string;

/** @param zero what seconds count from */
type ClockOf = (recording: RecordingInfo | null, clock: string, zero: number) => { name: string; text: (ns: number, step: number) => string };

/** @returns ticks at 1, 2 or 5 times a power of ten */
type Ticks = (range: TimeRange, most: number) => { step: number, first: number };

type AskFrames = (what: "columns" | "spans" | "flame", body: object, each: (frame: Frame) => void, options?: Asked) => Promise<void>;

type AskSearch = (body: object, each: (line: Hit | { density: Density } | { figures: Figures }) => void, aborted: AbortSignal) => Promise<void>;

/** @param base what its instants count from */
type RowMenu = (row: TableRow, table: Table, base: number, butterfly: (method: string) => void) => Item[];

/**
 * @param shown rows
 * @param count rows of the answer
 */
type FootOf = (answer: Answer, command: string, shown: number, count: number) => Child[];

/** @param end the wake-up, ns */
type LinkTo = (lane: string | null, name: string, end: number) => HTMLElement;

/** @param of whose wait it explains, where that is not the chosen span */
type ChainOf = (chain: ChainLink[], of?: string) => Child;

/**
 * @param key of a column
 * @returns the hue that its process or stack tag has in the lanes
 */
type HueOfCell = (row: TableRow, key: string) => number | null;

type LaneOf = (id: string, kind: string, name: string, more?: Partial<Lane>) => Lane;

/**
 * @param values of the frame's buckets
 * @returns NaN where nothing was read
 */
type OnColumns = (data: LaneData, values: Numbers, how: "sum" | "mean" | "peak" | "first") => Numbers;

/**
 * @param name of a series
 * @returns null: the lane has none; NaN where a column has none
 */
type PeaksOn = (data: LaneData, name: string) => Numbers | null;

/**
 * @param full what is as high as the room
 * @param room pixels
 * @returns pixels; at least one of what occurs
 */
type PixelsOf = (value: number, full: number, room: number) => number;

/** @returns rows from the top, colours as bytes R, G, B, A; max: the largest column */
type PaintLane = (paint: Paint, palette: Palette) => { pixels: Uint32Array, max: number };

/**
 * @param index of a process
 * @param order hues of those that are known by now
 * @returns 0…11
 */
type HueOfIndex = (index: number, order?: number[]) => number;

type Clipped = (context: CanvasRenderingContext2D, box: Rect, draw: () => void) => void;

type Sized = (canvas: HTMLCanvasElement, width: number, height: number) => void;

/** @param x CSS pixels */
type Shift = (element: HTMLElement | undefined, x: number, wide?: number) => void;

/** @param name of the series */
type ShareOf = (name: string, value: number, bucket: number, atOnce: number | null, lane: Lane) => string;

/**
 * @param show whether the view follows the span
 * @param along whether the span is the next one along the chain of the chosen span
 */
type Choose = (lane: string, ns: number, show?: boolean, along?: boolean) => Promise<void>;

/** @param end the wake-up, ns */
type FollowTo = (lane: string, end: number) => Promise<void>;

/** @param along whether the path keeps the keyboard */
type GoAlong = (ns: number, along?: boolean) => void;

/** @returns null: it has no lane with figures */
type DensityOf = (hit: Hit, signal: AbortSignal) => Promise<Density | null>;

/** What the page begins with: its whole, the places for tools, and the lanes. */
type FirstParts = { app: HTMLElement; top: HTMLElement; head: HTMLElement; time: HTMLElement; axis: HTMLElement; lanes: import("./lanes/view.js").LanesView; dock: HTMLElement };

/** @param anchor where its menus stand */
type LaneMenu = (row: Row, store: LaneStore, anchor: HTMLElement) => Item[];

type CommandsOf = (lane: Lane, store: LaneStore) => { name: string, command: string }[];

/**
 * @param words of a lane
 * @returns the same question about the range
 */
type WordsAbout = (words: string[], range: TimeRange) => string[];

/** @param x where the pointer is */
type OpenMenu = (anchor: HTMLElement, items: Item[], x?: number) => void;

type MenuButton = (props: Props, items: (button: HTMLElement) => Item[], ...children: Child[]) => HTMLButtonElement;

type OpenDialog = (label: string, make: (close: () => void) => HTMLElement[], kind?: string) => HTMLDialogElement;

/** @returns those for which the recording has data */
type ViewsOf = (session: Session | null, recording: RecordingInfo | null) => { name: string, about: string, text: string }[];

/**
 * @param words with times since the start of the recording
 * @returns the same question with times since the landmark
 */
type Carried = (words: readonly string[], zero?: Zero | null) => string[];

/** @param how a step can be undone; moves that follow each other are undone together */
type Look = (wanted: TimeRange, how?: "step" | "move") => void;

/**
 * @param factor below 1 comes nearer
 * @param around the instant that stays where it is
 */
type Zoom = (factor: number, around: number) => void;

/** Hatches what is not read, in a picture of colours as bytes R, G, B, A. */
type Unread = (out: Uint32Array, x: number, width: number, height: number, scale: number, colour: number) => void;

/** The picture of colours as bytes R, G, B, A. */
type ImageOf = (pixels: Uint32Array, width: number, height: number) => ImageData;

/** The nearest element around the target of an event that fits. */
type Around = (event: Event, selector: string) => HTMLElement | null;

/** With `always` the wheel zooms without Ctrl. */
type Wheel = (event: WheelEvent, area: HTMLElement, always?: boolean) => void;

/** The row of a lane in a list. */
type RowOf = (lane: Lane, depth: number, where: string, parent: string | null, more: Partial<Row>) => Row;

/** Adds a part of a narrow segment to each pixel that it touches. */
type Share = (narrow: Map<number, Map<string, number>>, a: number, b: number, name: string) => void;
