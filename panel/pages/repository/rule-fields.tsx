import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { RequestError } from '../../api/errors.ts';
import { Form, SelectField, TextField } from '../../components/form.tsx';
import { useAction } from '../../state/action.ts';
import { ruleOf, type Rule, type RuleForm } from '../../view/rule-form.ts';

const kinds = [
  ['branches', 'Branches'],
  ['tags', 'Tags'],
  ['pullRequests', 'Open pull requests'],
] as const;

const environments = [
  ['none', 'No environment'],
  ['empty', 'An empty environment'],
  ['created', 'An environment with contents'],
  ['built', 'A built environment'],
] as const;

const drafts = [
  ['', 'Drafts and others'],
  ['none', 'No drafts'],
  ['only', 'Only drafts'],
] as const;

const forks = [
  ['', 'Forks only if no contents are created'],
  ['none', 'Never from forks'],
  ['only', 'Only from forks'],
] as const;

const authors = [
  ['', 'Anybody'],
  ['contributor', 'Members and contributors'],
  ['member', 'Members'],
] as const;

/** The fields of one rule. `onDone` gets the rule, or undefined if the user cancels. */
export function RuleFields({
  initial,
  verb,
  onDone,
}: {
  initial: RuleForm;
  verb: string;
  onDone: (rule: Rule | undefined) => void;
}): JSX.Element {
  const form = useSignal(initial);
  const { kind } = form.value;
  const change = (changes: Partial<RuleForm>) => {
    form.value = { ...form.value, ...changes };
  };
  const action = useAction(() => {
    const rule = ruleOf(form.value);
    if ('fault' in rule) {
      const details = [{ path: rule.field, message: rule.fault }];
      return Promise.reject(new RequestError(422, 'the rule is not complete', details));
    }
    onDone(rule);
    return Promise.resolve();
  });
  const isPull = kind === 'pullRequests';
  const fields = useRef<HTMLDivElement>(null);
  useEffect(() => fields.current?.querySelector('select')?.focus(), []);
  return (
    <div ref={fields}>
      <Form
        action={action}
        verb={verb}
        label="Rule"
        more={
          <button type="button" onClick={() => onDone(undefined)}>
            Cancel
          </button>
        }
      >
        <SelectField
          label="Matches"
          name="kind"
          value={kind}
          options={kinds}
          onInput={(value) => change({ kind: value })}
        />
        {!isPull && (
          <TextField
            label="Patterns"
            name="patterns"
            value={form.value.patterns}
            onInput={(patterns) => change({ patterns })}
            placeholder={kind === 'tags' ? 'v*' : 'main release/**'}
            hint="With spaces between them. * matches all characters but /, ** all, ? one."
            isMonospace
            isRequired
          />
        )}
        {isPull && (
          <>
            <TextField
              label="Labels"
              name="labels"
              value={form.value.labels}
              onInput={(labels) => change({ labels })}
              placeholder="any"
              hint="With commas between them. The pull request must have one of them."
            />
            <TextField
              label="Target branches"
              name="targetBranches"
              value={form.value.targetBranches}
              onInput={(targetBranches) => change({ targetBranches })}
              placeholder="any"
              hint="Patterns with spaces between them."
              isMonospace
            />
            <SelectField
              label="Drafts"
              name="drafts"
              value={form.value.drafts}
              options={drafts}
              onInput={(value) => change({ drafts: value })}
            />
            <SelectField
              label="Forks"
              name="forks"
              value={form.value.forks}
              options={forks}
              onInput={(value) => change({ forks: value })}
              hint="Anybody can open a pull request from a fork. Its code gets no variables and credentials."
            />
            <SelectField
              label="Author"
              name="author"
              value={form.value.author}
              options={authors}
              onInput={(author) => change({ author })}
              hint="As GitHub and GitLab report it; GitLab reports members only, and other hosts nobody."
            />
          </>
        )}
        <TextField
          label={isPull ? 'Except from the branches' : 'Except'}
          name="exclude"
          value={form.value.exclude}
          onInput={(exclude) => change({ exclude })}
          placeholder="none"
          hint="Patterns with spaces between them."
          isMonospace
        />
        <SelectField
          label="Gets"
          name="environment"
          value={form.value.environment}
          options={environments}
          onInput={(environment) => change({ environment })}
        />
        <TextField
          label="Time to live"
          name="ttl"
          value={form.value.ttl}
          onInput={(ttl) => change({ ttl })}
          placeholder="that of the repository"
          hint="After it the contents are deleted: 12h or 7d; 0 for never."
        />
        <TextField
          label="Sleeps after"
          name="sleepAfter"
          value={form.value.sleepAfter}
          onInput={(sleepAfter) => change({ sleepAfter })}
          placeholder="that of the repository"
          hint="After this time without a visit: 30m or 4h; 0 for never."
        />
      </Form>
    </div>
  );
}
