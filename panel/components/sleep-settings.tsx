import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { RequestError } from '../api/errors.ts';
import { useAction } from '../state/action.ts';
import { DAYS, hoursText, WORKDAYS, type Day, type SleepSettings, type WakeOn } from '../view/sleep-text.ts';
import { durationText, parseDuration } from '../view/time.ts';
import { CheckField, Form, SelectField, TextField } from './form.tsx';

const wakers: Record<WakeOn, string> = {
  visit: 'Anybody who opens its address',
  login: 'A member, whom its address leads here',
  never: 'A request alone',
};
const commits = {
  no: 'Its images are built while the environment sleeps',
  yes: 'It wakes the environment',
} as const;
type OnCommit = keyof typeof commits;
/** The choice of a field that inherits. */
const inherit = '';
type Choices<Value extends string> = readonly (readonly [Value | typeof inherit, string])[];

export interface SleepFormProps {
  settings: SleepSettings;
  /** For an environment, the settings of its repository, which its own replace; undefined until they are loaded. */
  ofRepository?: { settings: SleepSettings | undefined };
  /** @throws RequestError */
  save: (settings: object) => Promise<void>;
}

/** The form of when environments sleep, and what wakes them. An empty field inherits. */
export function SleepForm({ settings, ofRepository, save }: SleepFormProps): JSX.Element {
  const { afterSeconds, workingHours: hours } = settings;
  const inherited = ofRepository?.settings;
  const after = useSignal(afterSeconds === undefined ? '' : durationText(afterSeconds));
  const hasHours = useSignal(hours !== undefined);
  const chosen = useSignal<readonly Day[]>(hours?.days ?? WORKDAYS);
  const from = useSignal(hours?.from ?? '08:00');
  const to = useSignal(hours?.to ?? '18:00');
  const timeZone = useSignal(hours?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  const wakeOn = useSignal<WakeOn | typeof inherit>(settings.wakeOn ?? inherit);
  const onCommit = useSignal<OnCommit | typeof inherit>(
    settings.wakeOnCommit === undefined ? inherit : commitChoice(settings.wakeOnCommit),
  );
  const action = useAction(() => {
    const given = { days: chosen.value, from: from.value, to: to.value, timeZone: timeZone.value };
    return save({
      afterSeconds: secondsIn(after.value),
      workingHours: hasHours.value ? given : null,
      wakeOn: wakeOn.value === inherit ? null : wakeOn.value,
      wakeOnCommit: onCommit.value === inherit ? null : onCommit.value === 'yes',
    });
  });
  return (
    <section class="stack-small">
      <h2>Sleep</h2>
      <p class="muted">A sleeping environment has no running services. Its volumes and its address stay.</p>
      <Form action={action} verb="Save" label="Sleep">
        <TextField
          label="Sleeps after this time without a visit"
          name="sleep.afterSeconds"
          value={after.value}
          onInput={(text) => (after.value = text)}
          placeholder={ofRepository ? ofRepositoryText(inherited?.afterSeconds) : 'as in the installation'}
          hint="30m or 4h; 0 for never. Turning automatic sleep on or off restarts running public services once."
        />
        <CheckField
          label={
            ofRepository
              ? 'Has working hours of its own, and sleeps outside of them'
              : 'Sleeps outside of working hours'
          }
          isChecked={hasHours.value}
          onInput={(value) => (hasHours.value = value)}
          hint={
            inherited?.workingHours && !hasHours.value
              ? `Those of the repository apply: ${hoursText(inherited.workingHours)}.`
              : undefined
          }
        />
        {hasHours.value && (
          <>
            <fieldset class="row">
              <legend>Working days</legend>
              {DAYS.map(([day, label]) => (
                <CheckField
                  key={day}
                  label={label}
                  isChecked={chosen.value.includes(day)}
                  onInput={(isOn) => {
                    chosen.value = DAYS.map(([one]) => one).filter((one) =>
                      one === day ? isOn : chosen.value.includes(one),
                    );
                  }}
                />
              ))}
            </fieldset>
            <TextField
              label="From"
              name="sleep.workingHours.from"
              type="time"
              value={from.value}
              onInput={(text) => (from.value = text)}
              isRequired
            />
            <TextField
              label="To"
              name="sleep.workingHours.to"
              type="time"
              value={to.value}
              onInput={(text) => (to.value = text)}
              hint="On the next day unless it is later than the start."
              isRequired
            />
            <TextField
              label="Time zone"
              name="sleep.workingHours.timeZone"
              value={timeZone.value}
              onInput={(text) => (timeZone.value = text)}
              hint="A name of the IANA time zone database, such as Europe/Berlin."
              isRequired
            />
          </>
        )}
        <SelectField<WakeOn | typeof inherit>
          label="Woken by"
          name="sleep.wakeOn"
          value={wakeOn.value}
          options={choicesOf(wakers, 'visit', ofRepository && { value: inherited && (inherited.wakeOn ?? 'visit') })}
          onInput={(value) => (wakeOn.value = value)}
        />
        <SelectField<OnCommit | typeof inherit>
          label="A new commit"
          name="sleep.wakeOnCommit"
          value={onCommit.value}
          options={choicesOf(
            commits,
            'no',
            ofRepository && { value: inherited && commitChoice(inherited.wakeOnCommit === true) },
          )}
          onInput={(value) => (onCommit.value = value)}
        />
      </Form>
    </section>
  );
}

/**
 * Returns the values with the choice to inherit.
 * @param byDefault what applies if no object has a value
 * @param ofRepository for an environment, the value of its repository, if it is known
 */
function choicesOf<Value extends string>(
  texts: Readonly<Record<Value, string>>,
  byDefault: Value,
  ofRepository: { value: Value | undefined } | undefined,
): Choices<Value> {
  const all = (Object.keys(texts) as Value[]).map((value) => [value, texts[value]] as const);
  if (!ofRepository) return [[inherit, texts[byDefault]], ...all.filter(([value]) => value !== byDefault)];
  const { value } = ofRepository;
  const known = value === undefined ? '' : `: ${texts[value].charAt(0).toLowerCase()}${texts[value].slice(1)}`;
  return [[inherit, `As in the repository${known}`], ...all];
}

function commitChoice(wakes: boolean): OnCommit {
  return wakes ? 'yes' : 'no';
}

function ofRepositoryText(seconds: number | undefined): string {
  return seconds === undefined ? 'as in the repository' : `as in the repository: ${durationText(seconds)}`;
}

/** Returns null for no text. @throws RequestError */
function secondsIn(text: string): number | null {
  if (text.trim() === '') return null;
  const seconds = parseDuration(text);
  if (seconds !== undefined) return seconds;
  const details = [{ path: 'sleep.afterSeconds', message: 'must be a duration, such as 30m or 4h' }];
  throw new RequestError(422, 'the time without a visit is not valid', details);
}
