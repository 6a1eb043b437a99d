import { testJourneys } from './git-host-journeys.ts';

/** One with pull requests, statuses and webhooks; the other kinds take as long again (long/git-hosts.test.ts). */
testJourneys(['ownerhost']);
