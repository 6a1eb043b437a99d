/** The kinds of changes of Keep a Changelog, in its order. */
const kinds = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

export interface Release {
  version: string;
  /** YYYY-MM-DD. */
  date: string;
  /** Its changes as Markdown. */
  notes: string;
}

export interface Changelog {
  /** Changes since the last release as Markdown; '' if there are none. */
  unreleased: string;
  /** Newest first. */
  releases: Release[];
  /** Violations of the format, with the heading. */
  problems: string[];
}

const versionPattern = /^(\d+)\.(\d+)\.(\d+)$/;
const headingPattern = /^\[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$/;

/** What would look in the notes of a release like something else than a change. */
const disguised = /^(- | {2})\s*(#|\||```)|<[a-z!/]|[\p{Cc}\p{Bidi_Control}\u200b]/iu;

/** Compares versions of three numbers. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => versionPattern.exec(version)?.slice(1).map(Number));
  if (!left || !right) throw new Error(`${a} or ${b} is not a version of three numbers`);
  const difference = left.map((number, index) => number - (right[index] ?? 0)).find((one) => one !== 0);
  return difference ?? 0;
}

/** Returns the violations in the changes of one release. */
function changeProblems(heading: string, notes: string): string[] {
  const [before = '', ...parts] = notes.split(/^### /m);
  const names = parts.map((part) => part.split('\n', 1)[0] ?? '');
  const problems = before.trim() === '' ? [] : [`${heading}: text before the first kind of change`];
  for (const name of names) {
    if (!kinds.includes(name)) problems.push(`${heading}: "${name}" is not one of ${kinds.join(', ')}`);
  }
  const order = names.map((name) => kinds.indexOf(name));
  if (order.some((one, index) => index > 0 && one <= (order[index - 1] ?? 0))) {
    problems.push(`${heading}: kinds of changes are repeated, or not in the order ${kinds.join(', ')}`);
  }
  for (const [index, part] of parts.entries()) {
    const lines = part.split('\n').slice(1);
    const isList = lines.every((line) => line === '' || /^(- | {2}\S)/.test(line));
    if (lines.some((line) => disguised.test(line.replaceAll(/`[^`]*`/g, '')))) {
      problems.push(`${heading}: "${names[index]}" has a heading, a table, HTML or invisible characters`);
    }
    if (!isList || !lines.some((line) => line.startsWith('- '))) {
      problems.push(`${heading}: "${names[index]}" must be a list with at least one item`);
    }
  }
  return problems;
}

/** Reads a changelog in the format of Keep a Changelog. */
export function readChangelog(text: string): Changelog {
  const [, ...parts] = text.split(/^## /m);
  const problems: string[] = [];
  const sections = parts.map((part) => {
    const end = part.indexOf('\n');
    return { heading: part.slice(0, end), notes: part.slice(end + 1).trim() };
  });
  for (const { heading, notes } of sections) problems.push(...changeProblems(heading, notes));
  const [first, ...others] = sections;
  if (first?.heading !== '[Unreleased]') problems.push('the first section must be "## [Unreleased]"');
  const releases = others.flatMap(({ heading, notes }): Release[] => {
    const [, version, date] = headingPattern.exec(heading) ?? [];
    if (version === undefined || date === undefined) {
      problems.push(`"${heading}" must be "[VERSION] - YYYY-MM-DD"`);
      return [];
    }
    if (notes === '') problems.push(`${heading}: a release must list its changes`);
    return [{ version, date, notes }];
  });
  for (const [index, release] of releases.entries()) {
    const older = releases[index + 1];
    if (older && compareVersions(release.version, older.version) <= 0) {
      problems.push(`${release.version} must be above ${older.version}: the newest release comes first`);
    }
    if (older && release.date < older.date) problems.push(`${release.version} is older than ${older.version}`);
  }
  return { unreleased: first?.heading === '[Unreleased]' ? first.notes : '', releases, problems };
}

/** Returns the changelog with the unreleased changes as a release. */
export function withRelease(text: string, version: string, date: string): string {
  return text.replace(/^## \[Unreleased\]\n/m, `## [Unreleased]\n\n## [${version}] - ${date}\n`);
}
