import type { FlowOwner } from '../../../../fair-queue/fair-queue.ts';
import type { Run } from '../../../../tester-client/client.ts';
import { UnknownRunError } from '../../../../tester-client/errors.ts';
import type { ResultItem, TestStatus } from '../../../../tester-client/interface.ts';
import type { Tester } from '../run-step.ts';

interface FakeRun {
  Secret: string;
  status: TestStatus;
  result: ResultItem[];
}

/** A tester whose runs continue until the test ends them. */
export class FakeTester implements Tester {
  readonly started: { type: string; params: unknown; tenant: string; group: string }[] = [];
  readonly runs = new Map<string, FakeRun>();
  /** Error of the next requests. */
  failure: Error | undefined;
  polls = 0;

  run(type: string, params: Readonly<Record<string, unknown>>, owner: FlowOwner): Promise<Run> {
    return this.#answer(() => {
      this.started.push({ type, params, ...owner });
      const ID = `id-${this.started.length}`;
      this.runs.set(ID, { Secret: `secret-${ID}`, status: { Status: 'running' }, result: [] });
      return { ID, Secret: `secret-${ID}` };
    });
  }

  status(run: Run): Promise<TestStatus> {
    this.polls += 1;
    return this.#answer(() => this.#find(run).status);
  }

  results(run: Run): Promise<ResultItem[]> {
    return this.#answer(() => this.#find(run).result);
  }

  finish(ID: string, passed: boolean | undefined, summary: string, numbers: Record<string, number> = {}): void {
    this.runs.set(ID, {
      Secret: `secret-${ID}`,
      status: { Status: 'finished' },
      result: [
        ...(passed === undefined ? [] : [text('passed', String(passed))]),
        text('summary', summary),
        ...Object.entries(numbers).map(([label, value]) => ({
          ...text(label, String(value)),
          Type: 'number' as const,
        })),
      ],
    });
  }

  fail(ID: string, message: string): void {
    this.runs.set(ID, { Secret: `secret-${ID}`, status: { Status: 'failed', message }, result: [] });
  }

  #find({ ID, Secret }: Run): FakeRun {
    const found = this.runs.get(ID);
    if (!found || found.Secret !== Secret) throw new UnknownRunError('no such run');
    return found;
  }

  #answer<T>(make: () => T): Promise<T> {
    return new Promise((resolve) => {
      if (this.failure) throw this.failure;
      resolve(make());
    });
  }
}

function text(Label: string, value: string): ResultItem {
  return { Label, Type: 'string', Content: Buffer.from(value).toString('base64') };
}
