import type { RulesCheckView } from '../api/types.ts';
import { usageError } from '../errors.ts';
import { note, type Io } from '../io.ts';
import { counted } from '../output/counted.ts';
import { printList, printValue } from '../output/print.ts';
import { repositoryPath } from '../paths.ts';
import { readText } from '../read-text.ts';
import { repositoryId, suggesting } from '../resolve.ts';
import type { Run } from '../session.ts';
import { SHOWN_RULE_REFS } from '../shown.ts';

/** Shows which refs the rules of a repository, or those of a file, match. */
export const rules: Run = async (session, [name]) => {
  const { client, io, format, given } = session;
  const file = given.text('file');
  const tried = file === undefined ? undefined : await readRules(io, file);
  const id = await repositoryId(session, name);
  const path = `${repositoryPath(id)}/rules`;
  const checked = await suggesting(session, 'repository', id, () =>
    tried === undefined
      ? client.get<RulesCheckView>(path)
      : client.send<RulesCheckView>('POST', `${path}/check`, { body: { rules: tried } }),
  );
  if (format === 'json' || format === 'yaml') {
    await printValue(io, format, checked);
    return;
  }
  const { listedAt, matched, unmatched, refs, leftOut } = checked;
  if (listedAt === undefined) {
    note(io, `${id}: its refs were not listed within a day. Run \`coppice repo sync ${id}\`, then try again`);
    return;
  }
  await printList(io, format, refs, SHOWN_RULE_REFS);
  const byRule = matched.map((count, index) => `rule ${index + 1} matches ${counted(count, 'ref')}`);
  note(io, `listed at ${listedAt}: ${[...byRule, `no rule matches ${unmatched}`].join(', ')}`);
  const more = leftOut.branches + leftOut.tags + leftOut.pullRequests;
  if (more > 0) note(io, `${more} more refs are not shown`);
};

/** Reads a YAML list of rules, which may be the value of `rules`. @throws CliError */
export async function readRules(io: Io, file: string): Promise<unknown> {
  const { parse } = await import('yaml');
  const text = file === '-' ? await io.readInput() : readText(io, file);
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw usageError(`${file} is not valid YAML: ${String(error)}`);
  }
  const found = typeof value === 'object' && value !== null && 'rules' in value ? value.rules : value;
  if (!Array.isArray(found)) throw usageError(`${file} contains no list of rules`);
  return found;
}
