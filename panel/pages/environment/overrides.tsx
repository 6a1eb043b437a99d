import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { send } from '../../api/client.ts';
import { environmentPath } from '../../api/paths.ts';
import type { OverridesView } from '../../api/types.ts';
import { LoadError, Skeleton } from '../../components/error-note.tsx';
import { Field, Form } from '../../components/form.tsx';
import { VariablesEditor } from '../../components/variables-editor.tsx';
import { useAction } from '../../state/action.ts';
import { notify } from '../../state/notices.ts';
import { resourceOf, useResource } from '../../state/resource.ts';
import { decodeText, encodeText } from '../../view/base64.ts';

/** What differs from the repository in this environment: variables and a service file. */
export function Overrides({ id }: { id: string }): JSX.Element {
  const path = `${environmentPath(id)}/overrides`;
  const resource = useResource<OverridesView>(path);
  const found = resource.data.value;
  const error = resource.error.value;
  if (!found) {
    if (error) return <LoadError error={error} retry={() => void resource.reload()} what="overrides" />;
    return <Skeleton what="the overrides" />;
  }
  const onChange = () => {
    void resource.reload();
    resourceOf(`${environmentPath(id)}/variables`).invalidate();
  };
  return (
    <section class="stack-small">
      <h2>Overrides</h2>
      {!found.applies && (
        <p class="muted">
          The code of this pull request is not trusted, so it gets no overrides, which can contain secrets.
        </p>
      )}
      {(found.applies || found.variables.length > 0) && (
        <VariablesEditor variables={found.variables} path={path} id={id} of="environment" onChange={onChange} />
      )}
      {found.withheld !== true && (found.applies || found.serviceFile !== '') && (
        <ServiceFile saved={found.serviceFile} path={path} onSaved={(view) => resource.set(view)} />
      )}
    </section>
  );
}

interface ServiceFileProps {
  saved: string;
  path: string;
  onSaved: (view: OverridesView) => void;
}

function ServiceFile({ saved, path, onSaved }: ServiceFileProps): JSX.Element {
  const text = useSignal(decodeText(saved));
  /** What the text was changed from. */
  const base = useSignal(saved);
  const warnings = useSignal<OverridesView['warnings']>(undefined);
  const isOutdated = saved !== base.value;
  useEffect(() => {
    if (text.value !== decodeText(base.value) && text.value !== decodeText(saved)) return;
    text.value = decodeText(saved);
    base.value = saved;
  }, [saved]);
  const action = useAction(async () => {
    const view = await send<OverridesView>('POST', path, { body: { serviceFile: encodeText(text.value) } });
    base.value = view.serviceFile;
    warnings.value = view.warnings;
    onSaved(view);
    notify('Saved the service file of the environment. It takes effect with the next build.');
  });
  return (
    <Form
      action={action}
      verb="Save"
      label="Service file of the environment"
      more={
        isOutdated && (
          <button
            type="button"
            onClick={() => {
              text.value = decodeText(saved);
              base.value = saved;
            }}
          >
            Show the saved one
          </button>
        )
      }
    >
      <Field
        label="Service file"
        name="serviceFile"
        hint="Compose YAML that is merged over the service file of the repository. Empty for none."
      >
        {(control) => (
          <textarea
            {...control}
            class="monospace"
            rows={8}
            spellcheck={false}
            autocapitalize="off"
            value={text.value}
            placeholder={'services:\n  web:\n    environment:\n      LOG_LEVEL: debug'}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        )}
      </Field>
      {isOutdated && (
        <p class="note" role="status">
          Somebody else has saved another service file since you opened this one. Saving replaces it.
        </p>
      )}
      {warnings.value?.map((warning) => (
        <p key={warning} class="note state-degraded">
          <span class="isolate">{warning}</span>
        </p>
      ))}
    </Form>
  );
}
