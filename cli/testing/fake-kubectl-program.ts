// The program that tests put on the PATH as `kubectl`: answers from files beside it, and refuses what kubectl refuses.
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { FakeState } from './fake-kubectl.ts';

const folder = process.env['FAKE_KUBECTL'] ?? '';
const file = (name: string) => join(folder, name);
// Tests write this file; see fake-kubectl.ts.
const state = JSON.parse(readFileSync(file('state.json'), 'utf8')) as FakeState;

function fail(report: string): never {
  process.stderr.write(`${report}\n`);
  process.exit(1);
}

const args = process.argv.slice(2);
appendFileSync(file('calls'), `${JSON.stringify(args)}\n`);
if (state.notice !== undefined) process.stderr.write(`${state.notice}\n`);
for (const { call, report } of state.refusals) if (args.join(' ').includes(call)) fail(report);

const { values, positionals } = parseArgs({
  args,
  allowPositionals: true,
  // As kubectl, it knows these options only.
  strict: true,
  options: {
    ...{ 'all-namespaces': { type: 'boolean' }, watch: { type: 'boolean' }, minify: { type: 'boolean' } },
    ...{ 'output-watch-events': { type: 'boolean' }, prefix: { type: 'boolean' }, timestamps: { type: 'boolean' } },
    ...{ namespace: { type: 'string' }, output: { type: 'string' }, type: { type: 'string' } },
    ...{ patch: { type: 'string' }, filename: { type: 'string' }, selector: { type: 'string' } },
    ...{ tail: { type: 'string' }, follow: { type: 'string' }, 'max-log-requests': { type: 'string' } },
    ...{ context: { type: 'string' }, kubeconfig: { type: 'string' } },
    ...{
      stdin: { type: 'string' },
      tty: { type: 'string' },
      container: { type: 'string' },
      quiet: { type: 'boolean' },
    },
  },
});
const [verb, resource = '', name, ...others] = positionals;
// What follows is a command or ports.
if (verb === 'exec' || verb === 'port-forward') process.exit(state.exitCode ?? 0);
if (others.length > 0) fail(`error: too many arguments: ${others.join(' ')}`);
const { namespace } = values;
const found = (state.objects[resource] ?? []).filter(
  ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
);
const one = found.find(({ metadata }) => metadata.name === name);
const missing = `Error from server (NotFound): ${resource} "${name}" not found`;
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

if (verb === 'auth') print({ status: { userInfo: { username: 'ann@example.com' } } });
else if (verb === 'config') process.stdout.write(state.namespace ?? '');
else if (verb === 'logs') process.stdout.write(state.log ?? '');
else if (verb === 'get' && values.watch === true) {
  const [next, ...rest] = state.watches;
  writeFileSync(file('state.json'), JSON.stringify({ ...state, watches: rest }));
  if (next === undefined) {
    // A test could not see the end of the process, whose entry remains until its adoptive parent asks for it.
    process.once('SIGTERM', () => {
      rmSync(file('watching'), { force: true });
      process.exit(143);
    });
    writeFileSync(file('watching'), '');
    setInterval(() => undefined, 1000);
  } else if (typeof next === 'string') fail(next);
  else next.forEach(print);
} else if (verb === 'get' && name === undefined) print({ items: found });
else if (verb === 'get') print(one ?? fail(missing));
else if (verb === 'patch') {
  if (!one) fail(missing);
  // kubectl accepts any; the types are those of the callers.
  const patch = JSON.parse(values.patch ?? '') as { metadata: { annotations: Record<string, string> } };
  const annotations = { ...one.metadata.annotations, ...patch.metadata.annotations };
  print({ ...one, metadata: { ...one.metadata, annotations } });
} else if (verb === 'create') {
  const object: unknown = JSON.parse(readFileSync(0, 'utf8'));
  writeFileSync(file('created'), JSON.stringify(object));
  print(object);
} else fail(`error: unknown command "${verb}"`);
