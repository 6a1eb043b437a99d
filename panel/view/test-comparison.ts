import type { EnvironmentItem } from '../api/items.ts';

/** Usual names of base branches, in order of preference. */
const usualNames = ['main', 'master', 'trunk', 'develop'];

/** Returns the branches to compare an environment's tests with, the most probable base first. */
export function comparable(items: readonly EnvironmentItem[], id: string): EnvironmentItem[] {
  const rank = ({ gitRef }: EnvironmentItem) => {
    const index = usualNames.indexOf(gitRef.name);
    return index < 0 ? usualNames.length : index;
  };
  return items
    .filter((item) => item.id !== id && item.gitRef.type === 'branch' && item.status === 'built')
    .sort((a, b) => rank(a) - rank(b) || (a.gitRef.name < b.gitRef.name ? -1 : 1));
}

/** Returns the default base to compare with; undefined if no branch has a usual name. */
export function usualBase(items: readonly EnvironmentItem[]): EnvironmentItem | undefined {
  const [first] = items;
  return first && usualNames.includes(first.gitRef.name) ? first : undefined;
}

/** Returns how a number differs from the base's, `+12 %` or `+3` from 0; undefined if it is equal or not a number. */
export function differenceText(own: string, base: string | undefined): string | undefined {
  if (base === undefined || own.trim() === '' || base.trim() === '') return undefined;
  const [value, before] = [Number(own), Number(base)];
  if (!Number.isFinite(value) || !Number.isFinite(before) || value === before) return undefined;
  const sign = value > before ? '+' : '−';
  if (before === 0) return `${sign}${Math.abs(value)}`;
  const percent = Math.abs((100 * (value - before)) / before);
  return `${sign}${percent < 1 ? percent.toFixed(1) : Math.round(percent)} %`;
}
