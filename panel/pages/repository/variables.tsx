import type { JSX } from 'preact';
import { repositoryPath } from '../../api/paths.ts';
import type { RepositorySettingsView } from '../../api/types.ts';
import { LoadError, Skeleton } from '../../components/error-note.tsx';
import { VariablesEditor } from '../../components/variables-editor.tsx';
import { useResource } from '../../state/resource.ts';

export function RepositoryVariables({ id }: { id: string }): JSX.Element {
  const resource = useResource<RepositorySettingsView>(`${repositoryPath(id)}/settings`);
  const settings = resource.data.value;
  const error = resource.error.value;
  if (!settings) {
    if (error) return <LoadError error={error} retry={() => void resource.reload()} what="list of variables" />;
    return <Skeleton what="variables" />;
  }
  return (
    <VariablesEditor
      variables={settings.variables}
      path={repositoryPath(id)}
      id={id}
      of="repository"
      onChange={() => resource.invalidate()}
    />
  );
}
