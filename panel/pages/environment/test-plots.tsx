import type { JSX } from 'preact';
import { Icon } from '../../components/icons.tsx';
import { Plot } from '../../components/plot.tsx';
import { numberText } from '../../view/plot.ts';
import { buildsOf, labelsOf, pointsOf, type History, type TestedBuild } from '../../view/test-history.ts';

/** What a test found in the last builds: outcomes, and each number as a plot and in a table. */
export function TestPlots({ name, history }: { name: string; history: History }): JSX.Element | null {
  const builds = buildsOf(history, name);
  if (builds.length < 2) return null;
  const labels = labelsOf(builds);
  const series = labels.map((label) => ({ label, points: pointsOf(builds, label) }));
  return (
    <>
      <ol class="test-builds" aria-label={`Builds in which ${name} ended`}>
        {builds.map(({ build, outcome }) => (
          <li key={build} class={`figures state-${outcome === 'passed' ? 'built' : 'failed'}`}>
            <Icon name={outcome === 'passed' ? 'check' : 'cross'} />
            <span class="visually-hidden">build </span>
            {build}
            <span class="visually-hidden"> {outcome}</span>
          </li>
        ))}
      </ol>
      <div class="plots">
        {series
          .filter(({ points }) => points.length > 1)
          .map(({ label, points }) => (
            <Plot key={label} label={label} of={name} points={points} />
          ))}
      </div>
      {labels.length > 0 && <ValueTable name={name} builds={builds} labels={labels} />}
    </>
  );
}

interface ValueTableProps {
  name: string;
  builds: readonly TestedBuild[];
  labels: readonly string[];
}

function ValueTable({ name, builds, labels }: ValueTableProps): JSX.Element {
  const title = `Values of ${name} by build`;
  return (
    <details>
      <summary>
        Table<span class="visually-hidden">: {title}</span>
      </summary>
      {/* A region that scrolls must be reachable by keyboard. */}
      <div class="scroll-x" role="region" aria-label={title} tabIndex={0}>
        <table class="table test-values">
          <thead>
            <tr>
              <th scope="col">Build</th>
              <th scope="col">Outcome</th>
              {labels.map((label) => (
                <th key={label} scope="col" class="isolate">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody class="figures">
            {builds.toReversed().map(({ build, outcome, numbers }) => (
              <tr key={build}>
                <th scope="row">{build}</th>
                <td>{outcome}</td>
                {labels.map((label) => (
                  <td key={label}>{valueText(numbers.get(label))}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function valueText(value: number | undefined): string {
  return value === undefined ? '' : numberText(value);
}
