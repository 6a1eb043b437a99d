import { setTimeout as delay } from 'node:timers/promises';
import { deadline } from '../api/client.ts';
import type { TestsView } from '../api/types.ts';
import { CliError } from '../errors.ts';
import { note } from '../io.ts';
import { printList, printValue } from '../output/print.ts';
import { startProgress } from '../output/progress.ts';
import { environmentPath } from '../paths.ts';
import { environmentId, suggesting } from '../resolve.ts';
import type { Run, Session } from '../session.ts';

type Test = TestsView['tests'][number];
const defaultSeconds = 15 * 60;
/** Results of tests are not part of the change stream. */
const pollMs = 2000;
/** Why tests cannot start, until a build or an administrator changes that. */
const obstacles = ['TesterOff', 'RevisionUnknown'];
/** What the condition says of an earlier build is replaced in this time. */
const obstacleMs = 30_000;

export const results: Run = async (session, [name]) => {
  const id = await environmentId(session, name);
  await print(session, await read(session, id));
};

export const run: Run = async (session, [name]) => {
  const { client, given, io } = session;
  const id = await environmentId(session, name);
  const path = `${environmentPath(id)}/tests`;
  await suggesting(session, 'environment', id, () => client.send<TestsView>('POST', path));
  if (!given.flag('wait')) {
    note(io, `${id}: tests requested. \`coppice test results ${id}\` shows them`);
    return;
  }
  const ended = await untilEnded(session, id);
  await print(session, ended);
  const failed = ended.tests.filter(({ outcome }) => outcome !== 'passed');
  if (failed.length > 0) throw new CliError(`${failed.length} of ${ended.tests.length} tests did not pass`);
};

async function untilEnded(session: Session, id: string): Promise<TestsView> {
  const timeout = deadline(session.given.seconds('timeout') ?? defaultSeconds, `the tests of ${id} have not ended`);
  const progress = startProgress(session.io);
  const start = session.io.now();
  try {
    while (!timeout.signal.aborted) {
      const view = await read(session, id);
      const left = view.tests.filter(({ outcome }) => outcome === 'pending' || outcome === 'running');
      const isWaiting = view.waiting === true;
      if (!isWaiting && left.length === 0 && view.tests.length > 0) return view;
      const { reason = '', message } = view.tested ?? {};
      if (isWaiting && obstacles.includes(reason) && session.io.now() - start > obstacleMs)
        throw new CliError(`${id}: ${message}`);
      progress.show(
        isWaiting
          ? `${id}: the tests have not started`
          : `${id}: ${view.tests.length - left.length} of ${view.tests.length} tests have ended`,
      );
      await delay(pollMs);
    }
    throw timeout.error();
  } finally {
    progress.stop();
  }
}

function read(session: Session, id: string): Promise<TestsView> {
  const send = () => session.client.get<TestsView>(`${environmentPath(id)}/tests`);
  return suggesting(session, 'environment', id, send);
}

async function print({ io, format }: Session, view: TestsView): Promise<void> {
  if (format === 'json' || format === 'yaml') {
    await printValue(io, format, view);
    return;
  }
  await printList<Test>(io, format, view.tests, {
    name: ({ name }) => name,
    columns: [
      { title: 'TEST', value: ({ name }) => name },
      { title: 'TYPE', value: ({ type }) => type },
      { title: 'OUTCOME', value: ({ outcome }) => outcome },
      { title: 'SUMMARY', value: ({ summary, message }) => summary ?? message },
    ],
  });
}
