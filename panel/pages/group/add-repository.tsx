import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import { send } from '../../api/client.ts';
import { asRequestError, RequestError } from '../../api/errors.ts';
import { groupPath, repositoryPage } from '../../api/paths.ts';
import type { RepositoryView } from '../../api/types.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form, SelectField, TextField } from '../../components/form.tsx';
import { useAction, useIsShown } from '../../state/action.ts';
import { notify } from '../../state/notices.ts';
import { invalidateWhere } from '../../state/resource.ts';

type Type = RepositoryView['type'];

interface Parameter {
  name: string;
  label: string;
  isSecret?: true;
  isOptional?: true;
  hint?: string;
}

const token = { label: 'Token', isSecret: true } as const;

/** The fields that identify a repository at each kind of Git host. */
const hosts: Record<Type, { label: string; parameters: readonly Parameter[] }> = {
  generic: {
    label: 'Any Git server',
    parameters: [
      { name: 'origin', label: 'Address', hint: 'https://, http://, ssh:// or user@host:path' },
      { name: 'username', label: 'User name', isOptional: true },
      { name: 'password', label: 'Password or token', isSecret: true, isOptional: true },
    ],
  },
  ownerhost: {
    label: 'GitHub, Gitea or Forgejo',
    parameters: [
      { name: 'owner', label: 'Owner' },
      { name: 'repo', label: 'Repository' },
      { name: 'token', ...token, isOptional: true },
      { name: 'instanceUrl', label: 'Address of the instance', isOptional: true, hint: 'Empty for github.com.' },
    ],
  },
  groupedhost: {
    label: 'GitLab',
    parameters: [
      { name: 'group', label: 'Group', hint: 'With its parents: a/b' },
      { name: 'project', label: 'Project' },
      { name: 'token', ...token },
      { name: 'instanceUrl', label: 'Address of the instance', isOptional: true, hint: 'Empty for gitlab.com.' },
    ],
  },
  cloudorg: {
    label: 'Azure DevOps',
    parameters: [
      { name: 'orgUrl', label: 'Address of the organization' },
      { name: 'project', label: 'Project' },
      { name: 'repoName', label: 'Repository' },
      { name: 'accessToken', ...token },
    ],
  },
  workspacehost: {
    label: 'Bitbucket',
    parameters: [
      { name: 'workspace', label: 'Workspace' },
      { name: 'repository', label: 'Repository' },
      { name: 'token', ...token },
    ],
  },
};
const types = (Object.keys(hosts) as Type[]).map((type) => [type, hosts[type].label] as const);

/** A repository that cannot be read has an error of all its parameters: it belongs to the first, which locates it. */
function atFirstParameter(
  { status, message, details, retryAfter, cause }: RequestError,
  [first]: readonly Parameter[],
): RequestError {
  const path = `params.${first?.name ?? ''}`;
  const moved = details.map((detail) => (detail.path === 'params' ? { ...detail, path } : detail));
  return new RequestError(status, message, moved, retryAfter, cause);
}

export function AddRepository({ group, onClose }: { group: string; onClose: () => void }): JSX.Element {
  const { route } = useLocation();
  const type = useSignal<Type>('generic');
  const name = useSignal('');
  const values = useSignal<Readonly<Record<string, string>>>({});
  const { parameters } = hosts[type.value];
  const isShown = useIsShown();
  const action = useAction(async () => {
    const params = Object.fromEntries(parameters.map((one) => [one.name, values.value[one.name]?.trim() ?? '']));
    const body = { name: name.value, type: type.value, params, sync: true };
    const added = await send<RepositoryView>('POST', groupPath(group), { body }).catch((thrown: unknown) => {
      throw atFirstParameter(asRequestError(thrown), parameters);
    });
    invalidateWhere((path) => path.startsWith('/api/overview'));
    // The user may have left the dialog, and be at something else.
    if (isShown()) route(repositoryPage(added.id), true);
    else notify(`Added ${added.id}.`);
  });
  return (
    <Dialog title="Add a repository" onClose={onClose}>
      <Form
        action={action}
        verb={action.isPending.value ? 'Reading the repository' : 'Add'}
        more={
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        }
      >
        <SelectField
          label="Git host"
          name="type"
          value={type.value}
          options={types}
          onInput={(value) => (type.value = value)}
        />
        <TextField
          label="Name"
          name="name"
          value={name.value}
          onInput={(text) => (name.value = text)}
          isRequired
          hasFocus
        />
        {parameters.map((parameter) => (
          <TextField
            key={`${type.value} ${parameter.name}`}
            label={parameter.isOptional ? `${parameter.label} (optional)` : parameter.label}
            name={`params.${parameter.name}`}
            type={parameter.isSecret ? 'password' : 'text'}
            autocomplete={parameter.isSecret ? 'new-password' : 'off'}
            value={values.value[parameter.name] ?? ''}
            onInput={(text) => (values.value = { ...values.value, [parameter.name]: text })}
            hint={parameter.hint}
            isRequired={parameter.isOptional !== true}
          />
        ))}
      </Form>
    </Dialog>
  );
}
