import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { send } from '../../api/client.ts';
import type { EnvironmentView } from '../../api/types.ts';
import { RequestError } from '../../api/errors.ts';
import { environmentPath, readEnvironmentPath } from '../../api/paths.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form, TextField } from '../../components/form.tsx';
import { useAction, useIsShown } from '../../state/action.ts';
import { notify } from '../../state/notices.ts';
import { resourceOf } from '../../state/resource.ts';
import { durationText, parseDuration } from '../../view/time.ts';

export function Ttl({ environment, onClose }: { environment: EnvironmentView; onClose: () => void }): JSX.Element {
  const text = useSignal(environment.ttl === undefined ? '' : durationText(environment.ttl));
  const isShown = useIsShown();
  const action = useAction(async () => {
    await setTtl(environment.id, text.value);
    if (isShown()) onClose();
  });
  return (
    <Dialog title="Set the time to live" onClose={onClose}>
      <Form
        action={action}
        verb="Set"
        more={
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        }
      >
        <TtlField value={text.value} onInput={(value) => (text.value = value)} />
      </Form>
    </Dialog>
  );
}

export function TtlField({ value, onInput }: { value: string; onInput: (text: string) => void }): JSX.Element {
  return (
    <TextField
      label="Time to live"
      name="ttl"
      value={value}
      onInput={onInput}
      hint="Counted from now: 12h, 7d, or 0 for none. After it the contents are deleted."
      isRequired
    />
  );
}

/** @throws RequestError */
export async function setTtl(id: string, text: string): Promise<void> {
  const ttl = parseDuration(text);
  if (ttl === undefined) {
    const details = [{ path: 'ttl', message: 'must be a duration, such as 12h or 7d' }];
    throw new RequestError(422, 'the time to live is not valid', details);
  }
  await send('POST', `${environmentPath(id)}/ttl`, { body: { ttl } });
  resourceOf(readEnvironmentPath(id)).invalidate();
  notify(ttl === 0 ? 'The time to live is removed.' : `The contents are deleted after ${durationText(ttl)}.`);
}
