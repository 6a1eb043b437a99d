import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { RequestError } from '../api/errors.ts';
import type { RepositorySettingsView } from '../api/types.ts';
import { useAction } from '../state/action.ts';
import { durationText, parseDuration } from '../view/time.ts';
import { CheckField, Form, SelectField, TextField } from './form.tsx';

type Settings = RepositorySettingsView['sleep'];
type Day = NonNullable<Settings['workingHours']>['days'][number];
type WakeOn = NonNullable<Settings['wakeOn']>;

const days: readonly (readonly [Day, string])[] = [
  ['mon', 'Monday'],
  ['tue', 'Tuesday'],
  ['wed', 'Wednesday'],
  ['thu', 'Thursday'],
  ['fri', 'Friday'],
  ['sat', 'Saturday'],
  ['sun', 'Sunday'],
];
const workdays: readonly Day[] = ['mon', 'tue', 'wed', 'thu', 'fri'];
const wakers: readonly (readonly [WakeOn, string])[] = [
  ['visit', 'anybody who opens its address'],
  ['login', 'a member, whom its address leads here'],
  ['never', 'a request alone'],
];

export interface SleepSettingsProps {
  settings: Settings;
  /** Name of what the settings are inherited from, such as `the repository`. */
  inherited: string;
  /** @throws RequestError */
  save: (settings: object) => Promise<void>;
}

/** The form of when environments sleep, and what wakes them. An empty field inherits. */
export function SleepSettings({ settings, inherited, save }: SleepSettingsProps): JSX.Element {
  const { afterSeconds, workingHours: hours } = settings;
  const after = useSignal(afterSeconds === undefined ? '' : afterSeconds === 0 ? '0' : durationText(afterSeconds));
  const hasHours = useSignal(hours !== undefined);
  const chosen = useSignal<readonly Day[]>(hours?.days ?? workdays);
  const from = useSignal(hours?.from ?? '08:00');
  const to = useSignal(hours?.to ?? '18:00');
  const timeZone = useSignal(hours?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  const wakeOn = useSignal<WakeOn>(settings.wakeOn ?? 'visit');
  const wakesOnCommit = useSignal(settings.wakeOnCommit ?? false);
  const action = useAction(() => {
    const given = { days: chosen.value, from: from.value, to: to.value, timeZone: timeZone.value };
    return save({
      afterSeconds: secondsIn(after.value),
      workingHours: hasHours.value ? given : null,
      wakeOn: kept(wakeOn.value, settings.wakeOn, 'visit'),
      wakeOnCommit: kept(wakesOnCommit.value, settings.wakeOnCommit, false),
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
          placeholder={`as in ${inherited}`}
          hint="30m or 4h; 0 for never."
        />
        <CheckField
          label="Sleeps outside of working hours"
          isChecked={hasHours.value}
          onInput={(value) => (hasHours.value = value)}
        />
        {hasHours.value && (
          <>
            <fieldset class="row">
              <legend>Working days</legend>
              {days.map(([day, label]) => (
                <CheckField
                  key={day}
                  label={label}
                  isChecked={chosen.value.includes(day)}
                  onInput={(isOn) => {
                    chosen.value = days
                      .map(([one]) => one)
                      .filter((one) => (one === day ? isOn : chosen.value.includes(one)));
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
        <SelectField
          label="Woken by"
          name="sleep.wakeOn"
          value={wakeOn.value}
          options={wakers}
          onInput={(value) => (wakeOn.value = value)}
        />
        <CheckField
          label="Wake for a new commit"
          isChecked={wakesOnCommit.value}
          onInput={(value) => (wakesOnCommit.value = value)}
          hint="Otherwise its images are built while the environment sleeps."
        />
      </Form>
    </section>
  );
}

/** Returns null, which removes the setting, for one that nobody has set and that is the default. */
function kept<Value>(value: Value, before: Value | undefined, byDefault: Value): Value | null {
  return before === undefined && value === byDefault ? null : value;
}

/** Returns null for no text. @throws RequestError */
function secondsIn(text: string): number | null {
  if (text.trim() === '') return null;
  const seconds = parseDuration(text);
  if (seconds !== undefined) return seconds;
  const details = [{ path: 'sleep.afterSeconds', message: 'must be a duration, such as 30m or 4h' }];
  throw new RequestError(422, 'the time without a visit is not valid', details);
}
