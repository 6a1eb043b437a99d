// Messages of errors that several routes answer with.

/** Also for callers who are not administrators, who must not learn that a route exists. */
export const NO_SUCH_RESOURCE =
  'there is no such resource, or you cannot see it. GET /api/docs describes all addresses';

export const NO_SUCH_ENVIRONMENT =
  'there is no such environment, or you cannot see it. GET /api/repository/{repoID} lists those of a repository';

export const TOKEN_NOT_VALID = 'the token is not valid, or has expired. Log in again';

export const ADDRESS_TAKEN = 'this e-mail address already has an account. Log in, or use another address';

export const GROUP_GOING = 'the group is being deleted. Wait until it is gone, or use another one';

export const NO_BUILD_YET = 'no build has been requested yet. POST …/build requests one';

export const LOG_UNREADABLE = 'the log cannot be read, because Redis does not respond. Try again in a few seconds';

export const REQUESTS_UNCOUNTED = 'requests cannot be counted, because Redis does not respond. Try again later';
