import { testJourneys } from './git-host-journeys.ts';

/** One host with pull requests, statuses and webhooks; long/git-hosts.test.ts tests the others. */
testJourneys(['ownerhost']);
