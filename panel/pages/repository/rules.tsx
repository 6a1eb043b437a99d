import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { RepositoryHead } from '../../api/types.ts';
import { CheckField, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icons.tsx';
import { useAction } from '../../state/action.ts';
import { formOf, NEW_RULE, ruleText, type Rule } from '../../view/rule-form.ts';
import { RuleFields } from './rule-fields.tsx';
import { RulesCheck } from './rules-check.tsx';
import type { SettingsProps } from './settings-props.ts';

/** The rules by which refs get environments, in order, with what they would match. */
export function Rules({ repository, settings, save }: SettingsProps & { repository: RepositoryHead }): JSX.Element {
  const isByRules = useSignal(settings.sync.rules !== undefined);
  const rules = useSignal<readonly Rule[]>(settings.sync.rules ?? []);
  const isDryRun = useSignal(settings.sync.dryRun === true);
  /** Index of the edited rule; for a new rule, the number of rules. */
  const edited = useSignal<number | undefined>(undefined);
  const focused = useSignal('');
  const list = useRef<HTMLOListElement>(null);
  const action = useAction(() =>
    save({ sync: { rules: isByRules.value ? rules.value : null, dryRun: isDryRun.value } }),
  );
  // A moved rule keeps the focus, so that the keyboard can move it further.
  useEffect(() => {
    if (focused.value === '') return;
    list.current?.querySelector<HTMLElement>(`[data-control="${focused.value}"]:not(:disabled)`)?.focus();
    focused.value = '';
  }, [focused.value]);
  const move = (from: number, to: number) => {
    rules.value = rules.value.with(from, rules.value[to] ?? NO_RULE).with(to, rules.value[from] ?? NO_RULE);
    const isAtEnd = to === 0 || to === rules.value.length - 1;
    focused.value = to < from === isAtEnd ? `down ${to}` : `up ${to}`;
  };
  const done = (position: number, rule: Rule | undefined) => {
    edited.value = undefined;
    if (rule) rules.value = [...rules.value.slice(0, position), rule, ...rules.value.slice(position + 1)];
  };
  const count = rules.value.length;
  // The open rule has its place in the list, which therefore stays as it is.
  const isEditing = isByRules.value && edited.value !== undefined;
  return (
    <section class="stack-small">
      <h2>Environments by rule</h2>
      <CheckField
        label="Decide by rules which refs get an environment"
        isChecked={isByRules.value}
        onInput={(value) => (isByRules.value = value)}
        hint="Without rules each branch, open pull request and new tag gets an empty environment."
      />
      {isByRules.value && (
        <>
          <p class="muted">
            The first rule that matches a ref decides; a ref that none matches gets no environment. Existing
            environments stay as they are.
          </p>
          {count > 0 && (
            <ol class="card" ref={list} aria-label="Rules">
              {rules.value.map((rule, position) =>
                position === edited.value ? (
                  <li key={position} class="setting-edit">
                    <RuleFields initial={formOf(rule)} verb="Apply" onDone={(changed) => done(position, changed)} />
                  </li>
                ) : (
                  <RuleRow
                    key={position}
                    rule={rule}
                    position={position}
                    count={count}
                    isLocked={isEditing}
                    move={(to) => move(position, to)}
                    edit={() => (edited.value = position)}
                    remove={() => {
                      edited.value = undefined;
                      rules.value = rules.value.toSpliced(position, 1);
                    }}
                  />
                ),
              )}
            </ol>
          )}
          {edited.value === count ? (
            <div class="card setting-edit">
              <RuleFields initial={NEW_RULE} verb="Add" onDone={(rule) => done(count, rule)} />
            </div>
          ) : (
            <div>
              <button type="button" onClick={() => (edited.value = count)}>
                <Icon name="plus" /> Add a rule
              </button>
            </div>
          )}
          <h3>What the rules match</h3>
          <RulesCheck id={repository.id} rules={rules.value} />
        </>
      )}
      {isEditing && <p class="muted">Finish or cancel the open rule to save the rules.</p>}
      <Form action={action} verb="Save" label="Rules" isDisabled={isEditing}>
        <CheckField
          label="Dry run: syncs create no environment"
          isChecked={isDryRun.value}
          onInput={(value) => (isDryRun.value = value)}
        />
      </Form>
    </section>
  );
}

const NO_RULE: Rule = { environment: 'none' };

function RuleRow({
  rule,
  position,
  count,
  isLocked,
  move,
  edit,
  remove,
}: {
  rule: Rule;
  position: number;
  count: number;
  isLocked: boolean;
  move: (to: number) => void;
  edit: () => void;
  remove: () => void;
}): JSX.Element {
  const { matches, gets } = ruleText(rule);
  const name = `rule ${position + 1}`;
  return (
    <li class="setting-row">
      <span class="isolate">
        <span class="figures muted">{position + 1}.</span> {matches} <span class="muted">get</span> {gets}
      </span>
      <span class="row">
        <button
          type="button"
          class="icon-button"
          data-control={`up ${position}`}
          aria-label={`Move ${name} up`}
          disabled={isLocked || position === 0}
          onClick={() => move(position - 1)}
        >
          <Icon name="up" />
        </button>
        <button
          type="button"
          class="icon-button"
          data-control={`down ${position}`}
          aria-label={`Move ${name} down`}
          disabled={isLocked || position === count - 1}
          onClick={() => move(position + 1)}
        >
          <Icon name="down" />
        </button>
        <button type="button" class="ghost" aria-label={`Edit ${name}`} disabled={isLocked} onClick={edit}>
          Edit
        </button>
        <button type="button" class="ghost" aria-label={`Remove ${name}`} disabled={isLocked} onClick={remove}>
          Remove
        </button>
      </span>
    </li>
  );
}
