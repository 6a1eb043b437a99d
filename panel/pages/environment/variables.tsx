import type { JSX } from 'preact';
import type { EffectiveVariables, EnvironmentView } from '../../api/types.ts';
import { environmentPath, groupOf, groupPage, repositoryPage } from '../../api/paths.ts';
import { Empty, LoadError, Skeleton } from '../../components/error-note.tsx';
import { SecretValue } from '../../components/secret-value.tsx';
import { Table } from '../../components/table.tsx';
import { useResource } from '../../state/resource.ts';

/** The variables that are in effect, and where each comes from. */
export function Variables({ environment: { id, rid } }: { environment: EnvironmentView }): JSX.Element {
  const resource = useResource<EffectiveVariables>(`${environmentPath(id)}/variables`);
  const found = resource.data.value;
  const error = resource.error.value;
  if (!found) {
    if (error) return <LoadError error={error} retry={() => void resource.reload()} what="list of variables" />;
    return <Skeleton what="variables" />;
  }
  if (!found.applies) {
    return (
      <Empty title="No variables">
        <p>The commits of this pull request come from a fork, so its builds get no variables.</p>
      </Empty>
    );
  }
  if (found.variables.length === 0) {
    return (
      <Empty title="No variables">
        <p>
          A variable replaces <code>${'{NAME}'}</code> in the service file. Variables are set for a{' '}
          <a href={repositoryPage(rid, 'variables')}>repository</a> or a{' '}
          <a href={groupPage(groupOf(id), 'variables')}>group</a>.
        </p>
      </Empty>
    );
  }
  return (
    <Table columns={['Name', 'Value', 'Set for', 'Visibility']}>
      {found.variables.map((variable) => (
        <tr key={variable.name}>
          <td>
            <code>{variable.name}</code>
          </td>
          <td>
            <SecretValue
              name={variable.name}
              value={variable.value}
              isSecret={variable.secret}
              isWithheld={variable.withheld}
            />
          </td>
          <td>
            {variable.from === 'group' ? (
              <a href={groupPage(groupOf(id), 'variables')}>group</a>
            ) : (
              <a href={repositoryPage(rid, 'variables')}>repository</a>
            )}
            {variable.overrides && <span class="muted">, overrides the group's</span>}
          </td>
          <td class="muted">{variable.visibility === 'buildtime' ? 'builds only' : 'always'}</td>
        </tr>
      ))}
    </Table>
  );
}
