import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { send } from '../../api/client.ts';
import { environmentPath } from '../../api/paths.ts';
import type { EnvironmentView, SharedView } from '../../api/types.ts';
import { ACCESS_TEXTS, AccessForm } from '../../components/access-form.tsx';
import { Command } from '../../components/copy.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Form, SelectField, TextField } from '../../components/form.tsx';
import { Ago } from '../../components/times.tsx';
import { useAction } from '../../state/action.ts';
import { notify } from '../../state/notices.ts';

const hour = 3600;
const times: readonly (readonly [string, string])[] = [
  [String(hour), 'an hour'],
  [String(24 * hour), 'a day'],
  [String(7 * 24 * hour), 'a week'],
];

interface EnvironmentAccessProps {
  environment: EnvironmentView;
  /** The setting of its repository; undefined if it has none, or is not loaded yet. */
  ofRepository: EnvironmentView['access'] | undefined;
}

/** Who can open the environment, and links for those who cannot. */
export function EnvironmentAccess({ environment, ofRepository }: EnvironmentAccessProps): JSX.Element {
  const { id, access, ownAccess, hasAccessPassword = false } = environment;
  // Without a setting of its own, what is enforced is inherited; nothing is before there are addresses.
  const isEnforced = ownAccess === undefined && environment.weburl !== undefined;
  const inherited = ofRepository ?? (isEnforced ? access : undefined);
  const save = async (body: object) => {
    await send('POST', `${environmentPath(id)}/access`, { body });
    notify('Saved.');
  };
  return (
    <section class="stack-small">
      <h2>Access</h2>
      <AccessForm
        own={ownAccess}
        hasPassword={hasAccessPassword}
        fallback={`As in the repository${inherited === undefined ? '' : `: ${ACCESS_TEXTS[inherited].toLowerCase()}`}`}
        save={save}
      />
      {access !== 'public' && environment.weburl !== undefined && (
        <>
          <Share id={id} />
          <EndLinks id={id} />
        </>
      )}
    </section>
  );
}

/** Ends links before their time. The API checks who made the link, or owns the group. */
function EndLinks({ id }: { id: string }): JSX.Element {
  const link = useSignal('');
  const path = `${environmentPath(id)}/share/end`;
  const one = useAction(async () => {
    await send('POST', path, { body: { link: link.value.trim() } });
    link.value = '';
    notify('The link has ended.');
  });
  const all = useAction(async () => {
    await send('POST', path, { body: { all: true } });
    notify('All links have ended.');
  });
  const endAll = () => {
    if (confirm('End all links to this environment? Whoever uses one loses access at once.')) all.run();
  };
  return (
    <>
      <Form
        action={one}
        verb="End this link"
        label="End links"
        isDisabled={link.value.trim() === ''}
        more={
          <button type="button" class="ghost" disabled={all.isPending.value} onClick={endAll}>
            End all links
          </button>
        }
      >
        <TextField
          label="End a link"
          name="link"
          value={link.value}
          onInput={(value) => (link.value = value)}
          placeholder="paste the link"
          hint="Owners of the group can end every link, you those that you have made."
        />
      </Form>
      <ErrorNote error={all.error.value} />
    </>
  );
}

function Share({ id }: { id: string }): JSX.Element {
  const seconds = useSignal(String(24 * hour));
  const shared = useSignal<SharedView | undefined>(undefined);
  const action = useAction(async () => {
    shared.value = await send<SharedView>('POST', `${environmentPath(id)}/share`, {
      body: { seconds: seconds.value },
    });
  });
  return (
    <>
      <Form action={action} verb="Make a link" label="Share the environment">
        <SelectField
          label="Share with whoever has a link, for"
          name="seconds"
          value={seconds.value}
          options={times}
          onInput={(value) => (seconds.value = value)}
          hint="It ends earlier if you leave the group."
        />
      </Form>
      {shared.value && (
        <>
          <Command text={shared.value.url} />
          <p class="muted">
            It ends <Ago at={shared.value.expiresAt} />.
          </p>
        </>
      )}
    </>
  );
}
