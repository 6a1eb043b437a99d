/**
 * Columns of the table in docs/reference/environment-lifecycle.md: the environment's state when the trigger arrives.
 */
export const COLUMNS = ['empty', 'created', 'building', 'built', 'being removed'] as const;
export type Column = (typeof COLUMNS)[number];

/**
 * The outcome. `stays`: unchanged, a running build continues; `joins`: the running build is the requested one;
 * `superseded`: another build replaces it; `built`: a build is deployed; `rebuilt`: the contents including volumes are
 * deleted and created again with a build without cache; `gone`: the object and its contents are deleted. 409: the REST
 * API refuses it.
 */
export type Outcome = 'stays' | 'created' | 'built' | 'joins' | 'superseded' | 'rebuilt' | 'empty' | 'gone';
export type Cell = Outcome | `${Outcome} (409)`;

const everywhere = (cell: Cell): [Cell, Cell, Cell, Cell, Cell] => [cell, cell, cell, cell, cell];

/** Each trigger's cells in the order of the columns, as in the table in docs/reference/environment-lifecycle.md. */
export const STATE_TABLE = {
  'spawn of the same ref': ['stays', 'stays', 'stays', 'stays', 'empty'],
  PUT: ['built', 'stays (409)', 'stays (409)', 'stays (409)', 'empty (409)'],
  'PUT without build': ['created', 'stays (409)', 'stays (409)', 'stays (409)', 'empty (409)'],
  build: ['stays (409)', 'built', 'joins', 'built', 'empty (409)'],
  rebuild: everywhere('rebuilt'),
  'GET with build': ['stays', 'built', 'stays', 'stays', 'empty'],
  DELETE: ['stays', 'empty', 'empty', 'empty', 'empty'],
  'DELETE, others hold the ref': everywhere('gone'),
  'end of the TTL': ['stays', 'empty', 'empty', 'empty', 'empty'],
  'end of the TTL, others hold the ref': ['stays', 'gone', 'gone', 'gone', 'empty'],
  'change of the TTL': ['stays (409)', 'stays', 'stays', 'stays', 'empty (409)'],
  'ref gone': everywhere('gone'),
  'ref gone, onRefGone keep': ['stays', 'stays', 'stays', 'stays', 'empty'],
  'new commit': ['stays', 'built', 'superseded', 'built', 'empty'],
  'scheduled rebuild': ['stays', 'rebuilt', 'rebuilt', 'rebuilt', 'empty'],
  'spec.active to false': ['stays', 'empty', 'empty', 'empty', 'empty'],
  'spec.active to true': ['built', 'stays', 'stays', 'stays', 'built'],
  'spec.suspend': ['stays', 'stays', 'stays', 'stays', 'empty'],
  'kubectl delete': everywhere('gone'),
  'repository deleted': everywhere('gone'),
  'group deleted': everywhere('gone'),
} as const satisfies Record<string, [Cell, Cell, Cell, Cell, Cell]>;

export type Trigger = keyof typeof STATE_TABLE;
export const TRIGGERS = Object.keys(STATE_TABLE) as Trigger[];

export interface TableCell {
  trigger: Trigger;
  column: Column;
  outcome: Outcome;
  /** Whether the REST API answers 409, without effect. */
  isRefused: boolean;
}

export const TABLE_CELLS: TableCell[] = TRIGGERS.flatMap((trigger) =>
  COLUMNS.map((column, index) => {
    const cell: Cell = STATE_TABLE[trigger][index] ?? 'stays';
    const outcome = cell.replace(' (409)', '') as Outcome;
    return { trigger, column, outcome, isRefused: cell !== outcome };
  }),
);
