/** Paths of the REST API. */
const encode = encodeURIComponent;

export const groupPath = (id: string): string => `/api/group/${encode(id)}`;
export const repositoryPath = (id: string): string => `/api/repository/${encode(id)}`;
export const environmentPath = (id: string): string => `/api/environment/${encode(id)}`;
/** Reads an environment without starting a build. */
export const readEnvironmentPath = (id: string): string => `${environmentPath(id)}?build=false`;

/** The server returns so many environments beyond the limit. */
const maxIncluded = 50;

/** @param favourites IDs of environments to read even if others are more urgent */
export function overviewPath(limit: number, favourites: readonly string[]): string {
  const include = favourites.slice(-maxIncluded).map(encode).join(',');
  return `/api/overview?limit=${limit}${include === '' ? '' : `&include=${include}`}`;
}

/** Addresses of the panel's pages. */
export const groupPage = (id: string, tab?: string): string => `/groups/${encode(id)}${tabQuery(tab)}`;
export const repositoryPage = (id: string, tab?: string): string => `/repositories/${encode(id)}${tabQuery(tab)}`;
export const environmentPage = (id: string, tab?: string): string => `/environments/${encode(id)}${tabQuery(tab)}`;

/** Browsers do not send a fragment: so no access log and no Referer contains an invitation. */
const invitationHash = (invitation: string): string => `#invitation=${encode(invitation)}`;

/** @param invitation the text in an invitation's link */
export const invitationPage = (invitation: string): string => `/invitation${invitationHash(invitation)}`;
/** The page of an invitation's link. */
export const registerPage = (invitation: string): string => `/register${invitationHash(invitation)}`;
/** The page to sign in, which leads to the page of the invitation. */
export const signInPage = (invitation: string): string => `/sign-in${invitationHash(invitation)}`;

/** Returns the invitation in a link or text that somebody pasted. */
export function invitationIn(text: string): string {
  const named = /[?&#]invitation=([^&#\s]+)/.exec(text)?.[1];
  if (named === undefined) return text.trim();
  try {
    return decodeURIComponent(named);
  } catch {
    // The link was damaged on its way; the API answers that the invitation is not valid.
    return named;
  }
}

/** Returns the invitation in a page's address. Links of earlier versions have it in the query, also of `return`. */
export function givenInvitation(query: Readonly<Record<string, string>>, hash: string): string | undefined {
  const { invitation, return: back } = query;
  const inHash = new URLSearchParams(hash.slice(1)).get('invitation') ?? undefined;
  return inHash ?? invitation ?? (back?.startsWith('/invitation?') ? invitationIn(back) : undefined);
}

function tabQuery(tab: string | undefined): string {
  return tab === undefined ? '' : `?tab=${encode(tab)}`;
}

/** Returns the id of the group in the id of a repository or environment: `acme` of `acme.shop-main`. */
export function groupOf(id: string): string {
  return id.split('.')[0] ?? id;
}

const anyOrigin = 'http://panel.invalid';

/** Returns a path of this site to return to after signing in; `/` if the text names another site. */
export function localReturn(text: string | undefined): string {
  if (!text?.startsWith('/') || !URL.canParse(text, anyOrigin)) return '/';
  // Browsers ignore tabs and line breaks in an address: `/<tab>/other.example` is another site.
  const { origin, pathname, search, hash } = new URL(text, anyOrigin);
  if (origin !== anyOrigin || pathname.startsWith('//')) return '/';
  return /^\/(?:sign-in|register)$/.test(pathname) ? '/' : `${pathname}${search}${hash}`;
}
