// Sets the chosen theme before the first paint, so that the page does not flash. This script blocks rendering.
import { readTheme } from './state/theme-storage.ts';

const theme = readTheme();
if (theme !== 'system') document.documentElement.dataset['theme'] = theme;
