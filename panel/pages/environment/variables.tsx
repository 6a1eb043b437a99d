import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { EffectiveVariables, EnvironmentView } from '../../api/types.ts';
import { environmentPage, environmentPath, groupOf, groupPage, repositoryPage } from '../../api/paths.ts';
import { LoadError, Skeleton } from '../../components/error-note.tsx';
import { Icon } from '../../components/icons.tsx';
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
  const shown = found.variables.filter(({ from }) => found.applies || from === 'coppice');
  return (
    <>
      <p class="muted">
        {found.applies ? (
          <>
            A variable replaces <code>${'{NAME}'}</code> in the service file. Variables are set for{' '}
            <a href={environmentPage(id, 'settings')}>this environment</a>, its{' '}
            <a href={repositoryPage(rid, 'variables')}>repository</a> or its{' '}
            <a href={groupPage(groupOf(id), 'variables')}>group</a>, and by Coppice.
          </>
        ) : (
          'The commits of this pull request come from a fork, so its builds get only the variables that Coppice sets.'
        )}
      </p>
      <VariablesTable shown={shown} id={id} rid={rid} />
    </>
  );
}

interface TableProps {
  shown: EffectiveVariables['variables'];
  id: string;
  rid: string;
}

function VariablesTable({ shown, id, rid }: TableProps): JSX.Element {
  const areShown = useSignal(false);
  const isHideable = ({ from, secret, withheld }: TableProps['shown'][number]) =>
    from !== 'coppice' && secret !== true && withheld !== true;
  return (
    <>
      {shown.some(isHideable) && (
        <div class="buttons">
          <button type="button" aria-pressed={areShown.value} onClick={() => (areShown.value = !areShown.value)}>
            <Icon name="eye" /> Show all values
          </button>
        </div>
      )}
      <Table columns={['Name', 'Value', 'Set by', 'Visibility']}>
        {shown.map((variable) => (
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
                isPlain={areShown.value || variable.from === 'coppice'}
              />
            </td>
            <td>
              <Source from={variable.from} id={id} rid={rid} />
              {variable.overrides && <span class="muted">, overrides the {variable.overrides}'s</span>}
            </td>
            <td class="muted">{variable.visibility === 'buildtime' ? 'builds only' : 'always'}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function Source({ from, id, rid }: Omit<TableProps, 'shown'> & Pick<TableProps['shown'][number], 'from'>): JSX.Element {
  if (from === 'coppice') return <span>Coppice</span>;
  if (from === 'environment') return <a href={environmentPage(id, 'settings')}>environment</a>;
  if (from === 'group') return <a href={groupPage(groupOf(id), 'variables')}>group</a>;
  return <a href={repositoryPage(rid, 'variables')}>repository</a>;
}
