// Runs Prometheus' promtool on the rendered chart: checks the alerts and the dashboard's expressions, and verifies with
// the cases of alert-cases.ts when each alert fires. Exits with 1 on a failure.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { buildPrograms, programPath } from '../cluster/go/programs.ts';
import { runMain, startProgress } from '../support/progress.ts';
import { run } from '../support/run.ts';
import { ALERT_CASES, type AlertCase } from './alert-cases.ts';
import { expressionsOf, renderedRules, type Panel, type Rules } from './rules.ts';

const rulesFile = 'alerts.yaml';

await runMain(async () => {
  await buildPrograms(['promtool'], startProgress());
  const folder = mkdtempSync(join(tmpdir(), 'promtool-'));
  const write = (name: string, content: object) => {
    writeFileSync(join(folder, name), stringify(content));
  };
  try {
    const { rules, panels } = await renderedRules();
    write(rulesFile, rules);
    write('dashboard.yaml', recordingRules(panels));
    write('tests.yaml', unitTests(rules));
    for (const args of [
      ['check', 'rules', '--lint=all', '--lint-fatal', rulesFile, 'dashboard.yaml'],
      ['test', 'rules', 'tests.yaml'],
    ]) {
      console.log(await run(programPath('promtool'), args, { cwd: folder, deadline: 120 }));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Returns the dashboard's expressions as recording rules, the only form in which promtool checks them. */
function recordingRules(panels: readonly Panel[]): object {
  const rules = panels.flatMap((panel) =>
    expressionsOf(panel).map((expr, index) => ({ record: `panel:${panel.id}:${index}`, expr })),
  );
  return { groups: [{ name: 'dashboard', rules }] };
}

/** Returns a file of tests for `promtool test rules`. */
function unitTests({ groups }: Rules): object {
  const rules = groups.flatMap((group) => group.rules);
  const tests = ALERT_CASES.flatMap((one) => {
    const rule = rules.find(({ alert }) => alert === one.alert);
    const fired = [
      {
        exp_labels: one.labels,
        exp_annotations: { summary: one.summary, description: rule?.annotations.description ?? '' },
      },
    ];
    const expected = (minute: number, exp_alerts: object[]) => ({
      eval_time: `${minute}m`,
      alertname: one.alert,
      exp_alerts,
    });
    const quietMinutes = Array.from({ length: 15 }, (_one, index) => 10 * (index + 1));
    return [
      unitTest(`${one.alert} fires`, one.series, [expected(one.firesAt - 1, []), expected(one.firesAt, fired)]),
      unitTest(
        `${one.alert} is quiet`,
        one.quiet,
        quietMinutes.map((minute) => expected(minute, [])),
      ),
    ];
  });
  return { rule_files: [rulesFile], evaluation_interval: '1m', tests };
}

function unitTest(name: string, series: AlertCase['series'], alert_rule_test: object[]): object {
  const input_series = Object.entries(series).map(([one, values]) => ({ series: one, values }));
  return { name, interval: '1m', input_series, alert_rule_test };
}
