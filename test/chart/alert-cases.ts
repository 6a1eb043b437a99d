/** When an alert fires, as seen by Prometheus. */
export interface AlertCase {
  alert: string;
  /** Values of each series per minute from 0 on, in promtool's notation: `0x2 1+3x5` is 0, 0, 0, 1, 4, 7, … */
  series: Record<string, string>;
  /** The minute at which it fires, and not earlier. */
  firesAt: number;
  labels: Record<string, string>;
  /** Summary in the alert. */
  summary: string;
  /** Series just below the threshold, for which nothing fires in 2.5 hours. */
  quiet: Record<string, string>;
}

const warning = { severity: 'warning' };
const critical = { severity: 'critical' };
const operator = 'job="coppice-operator"';
const reconciles = `controller_runtime_reconcile_total{${operator},controller="environment"}`;
const failures = `controller_runtime_reconcile_errors_total{${operator},controller="environment"}`;
const panics = `controller_runtime_reconcile_panics_total{${operator},controller="group"}`;
const runningProcessor = `workqueue_longest_running_processor_seconds{${operator},name="repository"}`;
const requests = (code: string) => `rest_client_requests_total{job="coppice-api",code="${code}",method="GET"}`;
const answers = (status: number) => `coppice_api_requests_total{status="${status}",route="/api/groups",method="GET"}`;
const builds = (result: string, reason: string) => `coppice_builds_total{result="${result}",reason="${reason}"}`;

/**
 * Returns observations per minute of waits for a worker: `long` of 10 are between 100 and 1000 s, the others below a
 * second.
 */
function waits(long: number): Record<string, string> {
  const counts = { '1': 10 - long, '10': 10 - long, '100': 10 - long, '1000': 10, '+Inf': 10 };
  return Object.fromEntries(
    Object.entries(counts).map(([le, count]) => [
      `workqueue_queue_duration_seconds_bucket{${operator},name="environment",le="${le}"}`,
      `0+${count}x160`,
    ]),
  );
}

/**
 * For each alert, series that make it fire, and series that do not. A rate is known from the second value on, at minute
 * 1.
 */
export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: 'CoppiceOperatorNotLeading',
    series: {
      'leader_election_master_status{name="coppice-operator",pod="a"}': '1x4 0x20',
      'leader_election_master_status{name="coppice-operator",pod="b"}': '0x24',
    },
    firesAt: 7,
    labels: critical,
    summary: 'No Coppice operator is the leader',
    quiet: {
      'leader_election_master_status{name="coppice-operator",pod="a"}': '1x20 0x140',
      // One minute without a leader between the two.
      'leader_election_master_status{name="coppice-operator",pod="b"}': '0x21 1x140',
    },
  },
  {
    alert: 'CoppiceApiUnavailable',
    series: { 'up{job="coppice-api",pod="a"}': '1x9 0x20', 'up{job="coppice-api",pod="b"}': '1x5 _x20' },
    firesAt: 12,
    labels: critical,
    summary: "No replica of Coppice's API answers",
    quiet: { 'up{job="coppice-api",pod="a"}': '0x160', 'up{job="coppice-api",pod="b"}': '1x160' },
  },
  {
    alert: 'CoppiceProgrammingError',
    series: { [panics]: '0x5 1x20' },
    firesAt: 6,
    labels: { ...warning, job: 'coppice-operator', controller: 'group' },
    summary: 'The controller group hit a programming error',
    quiet: { [panics]: '3x160' },
  },
  {
    alert: 'CoppiceReconcilesFail',
    series: { [reconciles]: '0+10x40', [failures]: '0+6x40' },
    firesAt: 16,
    labels: { ...warning, controller: 'environment' },
    summary: 'More than half of the reconciles of the controller environment fail',
    quiet: { [reconciles]: '0+10x160', [failures]: '0+4x160' },
  },
  {
    alert: 'CoppiceWorkWaits',
    series: waits(2),
    firesAt: 16,
    labels: { ...warning, name: 'environment' },
    summary: 'Objects of environment wait longer than a minute for a worker',
    quiet: waits(0),
  },
  {
    alert: 'CoppiceKubernetesUnreachable',
    series: { [requests('200')]: '0+70x30', [requests('<error>')]: '0+20x30', [requests('503')]: '0+10x30' },
    firesAt: 11,
    labels: { ...critical, job: 'coppice-api' },
    summary: "A fifth of coppice-api's requests to the Kubernetes API fails",
    quiet: { [requests('200')]: '0+70x160', [requests('409')]: '0+20x160', [requests('503')]: '0+10x160' },
  },
  {
    alert: 'CoppiceApiErrors',
    series: { [answers(200)]: '0+90x30', [answers(500)]: '0+4x30', [answers(503)]: '0+6x30' },
    firesAt: 11,
    labels: warning,
    summary: "One in twenty requests to Coppice's API fails",
    quiet: { [answers(200)]: '0+90x160', [answers(404)]: '0+50x160', [answers(503)]: '0+4x160' },
  },
  {
    alert: 'CoppiceWorkHangs',
    series: { [runningProcessor]: '0+60x60' },
    // The value is 960 s at minute 16.
    firesAt: 21,
    labels: { ...warning, name: 'repository' },
    summary: 'A reconcile of repository has been running for more than 15 minutes',
    quiet: { [runningProcessor]: '900x160' },
  },
  {
    alert: 'CoppiceBuildsFail',
    series: { [builds('failed', 'BuildFailed')]: '0x5 0+1x120', [builds('succeeded', 'Succeeded')]: '2x130' },
    firesAt: 32,
    labels: warning,
    summary: 'Nearly all builds of the last hour have failed',
    // All builds fail, but there are few.
    quiet: { [builds('failed', 'BuildFailed')]: '0x20 6x140', [builds('succeeded', 'Succeeded')]: '2x160' },
  },
  {
    alert: 'CoppiceBuildsWait',
    series: { coppice_oldest_queued_build_seconds: '0x10 0+60x60' },
    // The value is 1860 s at minute 42.
    firesAt: 47,
    labels: warning,
    summary: 'A build has been waiting for more than half an hour',
    // The oldest queued build always waits for less than half an hour.
    quiet: { coppice_oldest_queued_build_seconds: '1700x160' },
  },
  {
    alert: 'CoppiceTestsRefused',
    series: { coppice_tester_refused_total: '0x5 1x20' },
    firesAt: 6,
    labels: warning,
    summary: "Environment tests are rejected because the tester's queue is full",
    quiet: { coppice_tester_refused_total: '4x160' },
  },
  {
    alert: 'CoppiceOrphans',
    series: {
      'coppice_orphans{kind="Namespace",pod="a"}': '0x5 2x200',
      'coppice_orphans{kind="Namespace",pod="b"}': '0x205',
    },
    firesAt: 126,
    labels: { ...warning, kind: 'Namespace' },
    summary: '2 objects of kind Namespace have no owner and cannot be deleted',
    quiet: { 'coppice_orphans{kind="Namespace",pod="a"}': '0x5 2x110 0x60' },
  },
  {
    alert: 'CoppiceHousekeepingFails',
    series: {
      'coppice_housekeeping_last_run_success{task="images",pod="a"}': '1x5 0x200',
      'coppice_housekeeping_last_run_success{task="logs",pod="a"}': '1x205',
    },
    firesAt: 66,
    labels: { ...warning, task: 'images' },
    summary: 'The task images of housekeeping fails',
    quiet: { 'coppice_housekeeping_last_run_success{task="images",pod="a"}': '1x5 0x50 1x100' },
  },
  {
    alert: 'CoppiceRedisDown',
    series: { 'coppice_redis_up{job="coppice-api",pod="a"}': '1x4 0x20' },
    firesAt: 7,
    labels: { ...critical, job: 'coppice-api' },
    summary: 'Redis does not answer coppice-api',
    // One of two pods can reach it.
    quiet: {
      'coppice_redis_up{job="coppice-api",pod="a"}': '0x160',
      'coppice_redis_up{job="coppice-api",pod="b"}': '1x160',
    },
  },
  {
    alert: 'CoppiceRedisMemoryFull',
    series: {
      'coppice_redis_memory_bytes{pod="a"}': '80x4 95x30',
      'coppice_redis_max_memory_bytes{pod="a"}': '100x34',
    },
    firesAt: 20,
    labels: warning,
    summary: 'Redis uses more than 90% of its memory',
    quiet: { 'coppice_redis_memory_bytes{pod="a"}': '89x160', 'coppice_redis_max_memory_bytes{pod="a"}': '100x160' },
  },
  {
    alert: 'CoppiceRepositoriesNotSynced',
    series: {
      'coppice_repositories_not_synced{reason="HostUnreachable"}': '0x4 3x60',
      'coppice_repositories{type="generic"}': '10x64',
    },
    firesAt: 35,
    labels: warning,
    summary: 'More than a quarter of the Repositories are not synchronized',
    // Two of four Repositories are not synchronized, which is below the minimum of three; suspended ones do not count.
    quiet: {
      'coppice_repositories_not_synced{reason="HostUnreachable"}': '2x160',
      'coppice_repositories_not_synced{reason="Suspended"}': '9x160',
      'coppice_repositories{type="generic"}': '4x160',
    },
  },
  {
    alert: 'CoppiceBuilderCertificateExpires',
    series: { coppice_builder_certificate_expiry_seconds: '600000x80' },
    firesAt: 60,
    labels: warning,
    summary: 'The certificate of a running builder expires within a week',
    quiet: { coppice_builder_certificate_expiry_seconds: '700000x160' },
  },
];
