import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { send } from '../../api/client.ts';
import { asRequestError, sentenceOf } from '../../api/errors.ts';
import { repositoryPath } from '../../api/paths.ts';
import type { RepositorySettingsView } from '../../api/types.ts';
import { Confirm } from '../../components/confirm.tsx';
import { LoadError, Skeleton } from '../../components/error-note.tsx';
import { Field, Form, SelectField } from '../../components/form.tsx';
import { Icon } from '../../components/icons.tsx';
import { useAction } from '../../state/action.ts';
import { notify } from '../../state/notices.ts';
import { resourceOf, useDataToEdit, useResource } from '../../state/resource.ts';
import { decodeText, encodeText } from '../../view/base64.ts';
import { offsetOf } from '../../view/text-position.ts';

type Mode = RepositorySettingsView['serviceFile']['mode'];

interface Problem {
  file: string;
  path: string;
  line: number;
  column: number;
  message: string;
}

/** POST /api/repository/{id}/check */
interface CheckResult {
  services: unknown;
  warnings: Problem[];
  errors: Problem[];
}

const modes: readonly (readonly [Mode, string])[] = [
  ['repo', 'File of the repository'],
  ['panel', 'This text alone'],
  ['both', 'Both: this text is merged into the file of the repository'],
];

/** The service file of the settings, checked while it is edited. */
export function ServiceFileEditor({ id }: { id: string }): JSX.Element {
  const resource = useResource<RepositorySettingsView>(`${repositoryPath(id)}/settings`);
  const settings = useDataToEdit(resource);
  const error = resource.error.value;
  if (!settings) {
    if (error) return <LoadError error={error} retry={() => void resource.reload()} what="service file" />;
    return <Skeleton what="the service file" lines={10} />;
  }
  return <Editor id={id} saved={settings.serviceFile} />;
}

const checkMs = 350;

function Editor({ id, saved }: { id: string; saved: RepositorySettingsView['serviceFile'] }): JSX.Element {
  const mode = useSignal<Mode>(saved.mode);
  const text = useSignal(decodeText(saved.serviceFile));
  const result = useSignal<CheckResult | undefined>(undefined);
  const failure = useSignal('');
  const isConfirming = useSignal(false);
  const isOwnText = mode.value !== 'repo';
  const editor = useRef<HTMLTextAreaElement>(null);
  const errors = result.value?.errors ?? [];
  const warnings = result.value?.warnings ?? [];
  const save = async () => {
    const body = { serviceFile: { mode: mode.value, serviceFile: encodeText(text.value) } };
    await send('POST', `${repositoryPath(id)}/settings`, { body });
    resourceOf(`${repositoryPath(id)}/settings`).invalidate();
    notify('Saved the service file. It takes effect with the next build.');
  };
  const action = useAction(async () => {
    if (errors.length > 0) isConfirming.value = true;
    else await save();
  });
  useEffect(() => {
    if (!isOwnText || text.value.trim() === '') {
      result.value = undefined;
      failure.value = '';
      return undefined;
    }
    const ended = new AbortController();
    const timer = setTimeout(() => {
      const body = { serviceFile: encodeText(text.value), mode: mode.value };
      send<CheckResult>('POST', `${repositoryPath(id)}/check`, { body, signal: ended.signal })
        .then((checked) => {
          result.value = checked;
          failure.value = '';
        })
        .catch((thrown: unknown) => {
          if (!ended.signal.aborted) failure.value = sentenceOf(asRequestError(thrown));
        });
    }, checkMs);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [text.value, mode.value, id]);
  const goTo = ({ line, column }: Problem) => {
    const offset = offsetOf(text.value, line, column);
    editor.current?.focus();
    editor.current?.setSelectionRange(offset, offset);
  };
  return (
    <div class="service-file">
      <Form action={action} verb="Save" label="Service file">
        <SelectField
          label="Source"
          name="serviceFile.mode"
          value={mode.value}
          options={modes}
          onInput={(value) => (mode.value = value)}
        />
        {isOwnText ? (
          <Field label="Service file" name="serviceFile.serviceFile" hint="Compose YAML.">
            {(control) => (
              <textarea
                {...control}
                ref={editor}
                class="monospace service-file-text"
                rows={22}
                spellcheck={false}
                autocapitalize="off"
                value={text.value}
                placeholder={'services:\n  web:\n    build: .\n    ports: ["8080:80"]'}
                onInput={(event) => (text.value = event.currentTarget.value)}
              />
            )}
          </Field>
        ) : (
          <p class="muted">
            Each build reads the first of <code>coppice.yaml</code>, <code>compose.yaml</code> and{' '}
            <code>docker-compose.yml</code> in the root of its commit. Change that file in the repository, or choose
            another source to write one here.
          </p>
        )}
      </Form>
      {isOwnText && (
        <section class="service-file-problems" aria-label="Check" aria-live="polite">
          <h2>Check</h2>
          {failure.value !== '' && <p class="fault">{failure.value}</p>}
          {text.value.trim() === '' && <p class="muted">The problems of the text are listed here while you type.</p>}
          {result.value && errors.length === 0 && (
            <p class="row state-built check-ok">
              <Icon name="check" /> Coppice would run this
              {mode.value !== 'panel' && ', together with the file of the repository'}.
            </p>
          )}
          <ul>
            {[
              ...errors.map((one) => ({ ...one, isError: true })),
              ...warnings.map((one) => ({ ...one, isError: false })),
            ].map((problem) => (
              <li
                key={`${problem.line}:${problem.column} ${problem.message}`}
                class={`state-${problem.isError ? 'failed' : 'degraded'}`}
              >
                <button type="button" class="problem" onClick={() => goTo(problem)}>
                  <Icon name={problem.isError ? 'cross' : 'warning'} />
                  <span>
                    <span class="figures muted">
                      line {problem.line}, column {problem.column}
                    </span>{' '}
                    {problem.path !== '' && <code>{problem.path}</code>} <span class="isolate">{problem.message}</span>
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {isConfirming.value && (
        <Confirm
          title="Save a service file with errors"
          verb="Save"
          act={save}
          onClose={() => (isConfirming.value = false)}
        >
          <p>
            {errors.length === 1 ? 'The check found 1 error' : `The check found ${errors.length} errors`}. Builds fail
            until the service file is corrected.
          </p>
        </Confirm>
      )}
    </div>
  );
}
