import { parseArgs } from 'node:util';
import { deployGitHosts } from '../git-hosts/deploy.ts';
import { deployGitServer, GIT_SERVER_SOURCE } from '../git-server/deploy.ts';
import { deployGitea } from '../gitea/deploy.ts';
import { deployMetricsServer } from '../metrics-server/deploy.ts';
import { runSample } from '../sample/run-sample.ts';
import { API_URL } from './chart-values.ts';
import { bringUpCluster, completeImages } from './cluster.ts';
import { IP_FAMILIES, type IpFamily } from './kind-cluster.ts';
import { exclusively } from './exclusively.ts';
import type { ExistingClusterOptions } from './existing-cluster.ts';
import { CONNECTION_FILE, writeConnection } from './connection.ts';
import { canUpgradeTester, IMAGE_SOURCE, installCoppice, waitForTokenServer } from './install-coppice.ts';
import { provideFixtureImages } from './images/mirror.ts';
import { PROGRAMS_FOLDER } from '../support/paths.ts';
import { Problem } from '../support/problem.ts';
import { warnOfUnlimitedProcesses } from './process-limits.ts';
import { runMain, startProgress } from '../support/progress.ts';
import { COLUMNS, measureBusy, recordStepTimes, type ColumnName } from './step-times.ts';

const usage = `npm run up                      brings up the local kind cluster
npm run up -- --fixture-images  with the images that the sample set under test/fixtures is built from
npm run up -- --gitea           with Gitea at http://gitea.localhost:8080, for the end-to-end tests
npm run up -- --metrics         with metrics-server, so that the panel shows the CPU and memory of services
npm run up -- --nodes 3         with a control plane and two workers; without it, the control plane runs everything
npm run up -- --ip-family FAMILY
                                with pods and Services that have these addresses: ${IP_FAMILIES.join(', ')}
npm run up -- --node-image NAME
                                pulls that node image of kind's, for another version of Kubernetes
npm run up -- --record NAME     and keeps the times of its steps as a column of docs/measurements/local-cluster.md: ${COLUMNS.join(', ')}
npm run up -- --context NAME --registry ADDRESS [--ingress-url URL]
                                uses the cluster of that kubeconfig context, and a registry, HOST[:PORT][/PATH],
                                that this machine and the cluster reach by the same name`;

interface Options {
  existing?: ExistingClusterOptions;
  fixtureImages: boolean;
  gitea: boolean;
  ipFamily?: IpFamily;
  metrics: boolean;
  nodeImage?: string;
  nodes?: number;
  record?: ColumnName;
}

function parseOptions(): Options {
  let values: {
    context?: string;
    registry?: string;
    'ingress-url'?: string;
    'fixture-images'?: boolean;
    gitea?: boolean;
    'ip-family'?: string;
    metrics?: boolean;
    'node-image'?: string;
    nodes?: string;
    record?: string;
  };
  try {
    const text = { type: 'string' } as const;
    const flag = { type: 'boolean' } as const;
    ({ values } = parseArgs({
      options: {
        context: text,
        registry: text,
        'ingress-url': text,
        'fixture-images': flag,
        gitea: flag,
        'ip-family': text,
        metrics: flag,
        'node-image': text,
        nodes: text,
        record: text,
      },
    }));
  } catch (error) {
    throw new Problem(usage, { cause: error });
  }
  const { context, registry, 'ingress-url': ingressUrl = 'http://127.0.0.1:8080' } = values;
  const { 'fixture-images': fixtureImages = false, gitea = false, metrics = false } = values;
  const record = COLUMNS.find((column) => column === values.record);
  if (values.record !== undefined && record === undefined) throw new Problem(usage);
  const nodes = values.nodes === undefined ? undefined : Number(values.nodes);
  if (nodes !== undefined && !(Number.isInteger(nodes) && nodes >= 1 && nodes <= 9)) throw new Problem(usage);
  const ipFamily = IP_FAMILIES.find((family) => family === values['ip-family']);
  if (values['ip-family'] !== undefined && ipFamily === undefined) throw new Problem(usage);
  if (context === undefined && registry === undefined) {
    return {
      fixtureImages,
      gitea,
      metrics,
      ...(ipFamily !== undefined && { ipFamily }),
      ...(values['node-image'] !== undefined && { nodeImage: values['node-image'] }),
      ...(nodes !== undefined && { nodes }),
      ...(record !== undefined && { record }),
    };
  }
  if (context === undefined || registry === undefined) {
    throw new Problem(`--context and --registry are given together.\n${usage}`);
  }
  if (nodes !== undefined || ipFamily !== undefined || values['node-image'] !== undefined || record !== undefined) {
    throw new Problem('--nodes, --ip-family, --node-image and --record are options of the local cluster only.');
  }
  return { existing: { context, registry, ingressUrl }, fixtureImages, gitea, metrics };
}

await runMain(async () => {
  const progress = startProgress();
  const busySinceStart = measureBusy();
  let busy = 0;
  const { fixtureImages, gitea, metrics, record, ...clusterOptions } = parseOptions();
  await exclusively(progress, async () => {
    const cluster = await bringUpCluster(progress, {
      ...clusterOptions,
      images: [GIT_SERVER_SOURCE, IMAGE_SOURCE],
    });
    // The tester's image with a browser is the largest, and the sample does not need it, so an installed tester keeps
    // running meanwhile.
    const withTester = !cluster.isNew && (await canUpgradeTester(cluster));
    const deployed = Promise.all([
      deployGitServer(cluster, progress),
      installCoppice(cluster, progress, { tester: withTester ? 'current' : 'installed', isFirst: cluster.isNew }),
    ]);
    // What they wait for never comes if the cluster does not become ready, whose error is the cause.
    const [gitUrl] = await Promise.race([deployed, cluster.ready.then(() => deployed)]);
    const buildable = Promise.all([cluster.ready, waitForTokenServer(cluster)]);
    buildable.catch(() => undefined); // The sample reports it.
    const { email, password, weburl } = await runSample(API_URL, gitUrl, { ...cluster, ready: buildable }, progress);
    const { kubeconfig, ingressUrl, registry } = cluster;
    writeConnection({ apiUrl: API_URL, ingressUrl, kubeconfig, registry: registry.address, gitUrl, email, password });
    await progress.step('the sample page is up', () => Promise.resolve());
    busy = busySinceStart();
    console.log(`
Web page    ${weburl}
REST API    ${API_URL}/api, described at ${API_URL}/api/docs (user ${email}, password in ${CONNECTION_FILE})
Kubernetes  export KUBECONFIG=${kubeconfig} PATH=$PATH:${PROGRAMS_FOLDER}
Git server  ${gitUrl}
`);
    await warnOfUnlimitedProcesses(cluster.kubectl);
    await completeImages(cluster, progress);
    await deployGitHosts(cluster, progress);
    if (fixtureImages) await provideFixtureImages(cluster, progress);
    if (gitea) await deployGitea(cluster, progress);
    if (metrics) await deployMetricsServer(cluster, progress);
    // The values contain the address of Gitea's Service, which exists by now.
    if (gitea || !withTester) await installCoppice(cluster, progress, { tester: 'current' });
  });
  if (record !== undefined) await recordStepTimes(record, progress.steps, busy);
});
// After a failure, other steps may wait for minutes for what does not come any more.
process.exit();
