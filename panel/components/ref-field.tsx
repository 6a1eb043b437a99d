import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { send } from '../api/client.ts';
import { asRequestError, sentenceOf } from '../api/errors.ts';
import type { EnvironmentItem, EnvironmentPage } from '../api/items.ts';
import { repositoryPath } from '../api/paths.ts';
import { bareName, refsOf } from '../view/ref-choice.ts';
import { shownState } from '../view/shown-state.ts';
import { visibleText } from '../view/visible-text.ts';
import { Field } from './form.tsx';
import { Icon } from './icons.tsx';
import { StateBadge } from './state-badge.tsx';

const waitMs = 120;
const read = 40;
const shown = 8;

export interface RefFieldProps {
  repository: string;
  value: string;
  onInput: (text: string) => void;
  onChoose: (item: EnvironmentItem) => void;
  /** Called with the known refs that match the typed text. */
  onFound: (items: readonly EnvironmentItem[]) => void;
}

/** A field for a ref, typed or chosen from the refs of the repository. The list is beside the field and does not cover it. */
export function RefField({ repository, value, onInput, onChoose, onFound }: RefFieldProps): JSX.Element {
  const list = useId();
  const found = useSignal<readonly EnvironmentItem[]>([]);
  const foundFor = useSignal('');
  const chosen = useSignal(-1);
  const message = useSignal('');
  const isClosed = useSignal(false);
  const offered = useRef<readonly EnvironmentItem[]>([]);
  const wanted = bareName(value);
  useEffect(() => {
    const ended = new AbortController();
    const timer = setTimeout(() => {
      const text = encodeURIComponent(wanted.slice(0, 100));
      const path = `${repositoryPath(repository)}/environments?limit=${read}&sort=-built&text=${text}`;
      send<EnvironmentPage>('GET', path, { signal: ended.signal })
        .then(({ items }) => {
          // A choice among the previous results stays chosen, so that Enter does not submit the typed text instead.
          const kept = offered.current[chosen.value]?.id;
          found.value = refsOf(items);
          foundFor.value = wanted;
          chosen.value = found.value.slice(0, shown).findIndex(({ id }) => id === kept);
          message.value =
            items.length === 0 && wanted !== '' ? 'No known ref has this name. It is read from the Git host.' : '';
          onFound(items);
        })
        .catch((error: unknown) => {
          if (!ended.signal.aborted) message.value = sentenceOf(asRequestError(error));
        });
    }, waitMs);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [repository, wanted]);
  // While loading, offers only matches among the previous results.
  const isMatch = ({ gitRef }: EnvironmentItem) => gitRef.name.toLowerCase().includes(wanted.toLowerCase());
  const matching = foundFor.value === wanted ? found.value : found.value.filter(isMatch);
  const items = isClosed.value ? [] : matching.slice(0, shown);
  offered.current = items;
  const choose = (item: EnvironmentItem) => {
    isClosed.value = true;
    onChoose(item);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      if (isClosed.value) isClosed.value = false;
      else chosen.value = Math.max(-1, Math.min(items.length - 1, chosen.value + step));
      return;
    }
    const item = items[chosen.value];
    // If no ref is chosen, Enter submits the form with the typed text.
    if (event.key !== 'Enter' || !item) return;
    event.preventDefault();
    choose(item);
  };
  return (
    <Field label="Ref" name="gitRef.name" hint={message.value}>
      {(control) => (
        <>
          <input
            {...control}
            role="combobox"
            aria-expanded={items.length > 0}
            aria-controls={list}
            aria-activedescendant={chosen.value >= 0 ? `${list}-${chosen.value}` : undefined}
            value={value}
            required
            autofocus
            autocomplete="off"
            spellcheck={false}
            placeholder="Branch, tag or number of a pull request"
            class="monospace"
            onInput={(event) => {
              isClosed.value = false;
              onInput(event.currentTarget.value);
            }}
            onKeyDown={onKeyDown}
          />
          <ul id={list} role="listbox" aria-label="Refs" class="ref-results">
            {items.map((item, index) => (
              <li
                key={item.id}
                id={`${list}-${index}`}
                role="option"
                aria-selected={index === chosen.value}
                onClick={() => choose(item)}
                onMouseMove={() => (chosen.value = index)}
              >
                <Icon name={item.gitRef.type} />
                <span class="one-line">
                  <span class="isolate">
                    {item.gitRef.type === 'pull request' ? `#${item.gitRef.name}` : visibleText(item.gitRef.name)}
                  </span>{' '}
                  <span class="muted isolate">{visibleText(item.subject ?? '')}</span>
                </span>
                <StateBadge state={shownState(item)} isQuiet />
              </li>
            ))}
          </ul>
        </>
      )}
    </Field>
  );
}
