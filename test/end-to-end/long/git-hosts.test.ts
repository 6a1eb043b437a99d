import { testJourneys } from '../git-host-journeys.ts';

testJourneys(['ownerhost', 'generic', 'groupedhost', 'cloudorg', 'workspacehost']);
