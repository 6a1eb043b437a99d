// `npm run bench -- [--keep] [PART…]` measures Coppice on the running cluster, with a baseline for each figure. With
// --keep, the environments of scale-NUMBER and small-NUMBER are kept.
import { parseArgs } from 'node:util';
import { runMain } from '../support/progress.ts';
import { benchApplications } from './applications.ts';
import { benchBuilds } from './builds.ts';
import { benchBuiltCommit } from './built-commit.ts';
import { benchCli } from './cli.ts';
import { benchStreamsAt } from './crowded-streams.ts';
import { benchDeletion } from './deletion.ts';
import { benchGrowth } from './growth.ts';
import { benchLogs } from './logs.ts';
import { benchManyGroups } from './many-groups.ts';
import { benchOneService } from './one-service.ts';
import { benchReads } from './reads.ts';
import { benchPanel, benchPanelChanges } from './panel.ts';
import { benchPush } from './push.ts';
import { REPORTS } from './report.ts';
import { benchReusable } from './reusable.ts';
import { runParts } from './run-parts.ts';
import { benchScale } from './scale.ts';
import { benchSleep } from './sleep.ts';
import { benchSleeping } from './sleeping.ts';
import { benchStreams } from './streams.ts';
import { benchWebhooks } from './webhooks.ts';

const { values, positionals } = parseArgs({ options: { keep: { type: 'boolean' } }, allowPositionals: true });

const all = new Map([
  ['applications', benchApplications],
  ['builds', benchBuilds],
  ['built-commit', benchBuiltCommit],
  ['cli', benchCli],
  ['deletion', benchDeletion(100)],
  ['growth', benchGrowth],
  ['logs', benchLogs],
  ['many-groups', benchManyGroups],
  ['one-service', benchOneService],
  ['panel', benchPanel],
  ['panel-changes', benchPanelChanges],
  ['push', benchPush],
  ['reusable', benchReusable],
  ['scale-100', benchScale(100, values)],
  ['sleep', benchSleep],
  ['webhooks', benchWebhooks],
]);
const sized = new Map([
  ['deletion', benchDeletion],
  ['reads', benchReads],
  ['scale', (environments: number) => benchScale(environments, values)],
  ['separate-cores', (environments: number) => benchScale(environments, { separateCores: true })],
  ['sleeping', benchSleeping],
  ['streams', benchStreams],
  ['streams-at', benchStreamsAt],
  ['small', (environments: number) => benchScale(environments, { ...values, small: true })],
]);

await runMain(() => runParts({ all, sized, withoutCluster: ['cli', 'logs', 'panel'] }, positionals, REPORTS.bench));
