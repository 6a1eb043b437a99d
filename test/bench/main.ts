// `npm run bench -- [--keep] [PART…]`: measures Coppice on the cluster that is up, each figure beside a raw baseline. With
// --keep the environments of scale-NUMBER and small-NUMBER stay.
import { parseArgs } from 'node:util';
import { runMain } from '../cluster/progress.ts';
import { benchBuilds } from './builds.ts';
import { benchBuiltCommit } from './built-commit.ts';
import { benchLogs } from './logs.ts';
import { benchOneService } from './one-service.ts';
import { benchReads } from './reads.ts';
import { PLACES } from './report.ts';
import { benchReusable } from './reusable.ts';
import { ofThisCheckout, runParts } from './run-parts.ts';
import { benchScale } from './scale.ts';
import { benchWebhooks } from './webhooks.ts';

const { values, positionals } = parseArgs({ options: { keep: { type: 'boolean' } }, allowPositionals: true });

const all = new Map([
  ['builds', ofThisCheckout(benchBuilds)],
  ['built-commit', ofThisCheckout(benchBuiltCommit)],
  // Needs no cluster.
  ['logs', benchLogs],
  ['one-service', ofThisCheckout(benchOneService)],
  ['reusable', ofThisCheckout(benchReusable)],
  ['scale-100', ofThisCheckout(benchScale(100, values))],
  ['webhooks', ofThisCheckout(benchWebhooks)],
]);
const sized = new Map([
  ['reads', (environments: number) => ofThisCheckout(benchReads(environments))],
  ['scale', (environments: number) => ofThisCheckout(benchScale(environments, values))],
  ['small', (environments: number) => ofThisCheckout(benchScale(environments, { ...values, small: true }))],
]);

await runMain(() => runParts({ all, sized }, positionals, PLACES.bench));
