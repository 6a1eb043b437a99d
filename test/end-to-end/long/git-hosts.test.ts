import { testJourneys } from '../git-host-journeys.ts';

testJourneys(['generic', 'groupedhost', 'cloudorg', 'workspacehost']);
