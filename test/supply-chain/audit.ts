// Checks locked dependencies for known advisories with `npm audit`. audit-exceptions.json lists accepted ones with the
// reason. Exits with 1 if an advisory is new, or an exception has expired. A registry without an audit endpoint, such
// as some mirrors, is reported, but is not a failure.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { exceptionsSchema, judge } from './audit-report.ts';

const file = join(import.meta.dirname, 'audit-exceptions.json');
const exceptions = exceptionsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
const args = ['audit', '--json', '--package-lock-only', '--fetch-retries=0', '--fetch-timeout=10000'];
const { stdout, error } = spawnSync('npm', args, { cwd: REPOSITORY_ROOT, encoding: 'utf8', timeout: 30_000 });
if (error) throw error;
const audit = judge(stdout, exceptions, new Date().toISOString().slice(0, 10));
if (audit.checked) {
  for (const problem of audit.problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`checked: ${audit.problems.length} problems, ${exceptions.length} exceptions\n`);
  process.exitCode = audit.problems.length > 0 ? 1 : 0;
} else {
  process.stdout.write(`not checked: no audit endpoint (${audit.why.replace(/https?:\/\/\S+/g, 'the registry')})\n`);
}
