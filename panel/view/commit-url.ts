import type { RepositoryView } from '../api/types.ts';

const paths: Partial<Record<RepositoryView['type'], string>> = {
  ownerhost: '/commit/',
  groupedhost: '/-/commit/',
  cloudorg: '/commit/',
  workspacehost: '/commits/',
};

/** Returns the page of a commit at the Git host; undefined if the host is not known to have one. */
export function commitUrl({ type, url }: Pick<RepositoryView, 'type' | 'url'>, commit: string): string | undefined {
  const path = paths[type];
  if (path === undefined || !/^https?:\/\//i.test(url)) return undefined;
  return `${url.replace(/\/+$/, '').replace(/\.git$/, '')}${path}${encodeURIComponent(commit)}`;
}
