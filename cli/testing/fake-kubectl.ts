import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface StoredObject {
  metadata: { name: string; namespace?: string | undefined; annotations?: Record<string, string> | undefined };
}

/** What the fake answers from. */
export interface FakeState {
  /** By resource, such as `environments.coppice.dev`. */
  objects: Record<string, StoredObject[]>;
  /** What it writes to standard error for calls that contain a text. */
  refusals: { call: string; report: string }[];
  /** What watches print in turn: events, or the report of a failure; then it watches without an event. */
  watches: (object[] | string)[];
  /** Namespace of the context. */
  namespace?: string;
  /** What each call writes to standard error first. */
  notice?: string;
  log?: string;
  /** Of `exec` and `port-forward`. */
  exitCode?: number;
}

/** A kubectl in a folder of its own, which a test puts on the PATH. */
export class FakeKubectl {
  readonly folder = mkdtempSync(join(tmpdir(), 'fake-kubectl-'));
  readonly state: FakeState = { objects: {}, refusals: [], watches: [] };

  constructor() {
    const program = join(import.meta.dirname, 'fake-kubectl-program.ts');
    // It starts in half the time if it need not be compiled.
    const compiled = process.env['NODE_COMPILE_CACHE'] ?? '';
    const variables = `NODE_COMPILE_CACHE='${compiled}' FAKE_KUBECTL='${this.folder}'`;
    const path = join(this.folder, 'kubectl');
    writeFileSync(path, `#!/bin/sh\n${variables} exec '${process.execPath}' '${program}' "$@"\n`);
    chmodSync(path, 0o755);
  }

  /** Writes the state for the next calls. */
  save(): void {
    writeFileSync(join(this.folder, 'state.json'), JSON.stringify(this.state));
  }

  /** The arguments of all calls. */
  get calls(): string[][] {
    const path = join(this.folder, 'calls');
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    // The fake writes them.
    return lines.map((line) => JSON.parse(line) as string[]);
  }

  /** The object that was created last. */
  get created(): unknown {
    return JSON.parse(readFileSync(join(this.folder, 'created'), 'utf8')) as unknown;
  }

  /** Returns whether a watch runs that has nothing more to print. */
  isWatching(): boolean {
    return existsSync(join(this.folder, 'watching'));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
