/** What is pressed: the part of a KeyboardEvent that matters. */
export interface Key {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  metaKey: boolean;
}

const escape = '\u001b';
/** The last character of the sequences of keys that application mode changes. */
const cursorKeys: Readonly<Record<string, string>> = {
  ...{ ArrowUp: 'A', ArrowDown: 'B', ArrowRight: 'C', ArrowLeft: 'D', Home: 'H', End: 'F' },
};
const numbered: Readonly<Record<string, number>> = {
  ...{ Insert: 2, Delete: 3, PageUp: 5, PageDown: 6 },
  // The browser keeps F5, F11 and F12.
  ...{ F6: 17, F7: 18, F8: 19, F9: 20, F10: 21 },
};
const functionKeys: Readonly<Record<string, string>> = { F1: 'P', F2: 'Q', F3: 'R', F4: 'S' };
const controls: Readonly<Record<string, number>> = {
  ...{ ' ': 0, '@': 0, '[': 27, '\\': 28, ']': 29, '^': 30, _: 31, '/': 31, '?': 127 },
};

/**
 * Returns what a terminal sends for a key; undefined if the browser handles it: text, which arrives as input, the keys of
 * the clipboard, and Shift+Tab, which leaves the terminal.
 */
export function keySequence(pressed: Key, isApplicationMode: boolean): string | undefined {
  const { key, ctrlKey, altKey, shiftKey, metaKey } = pressed;
  if (metaKey) return undefined;
  const modifier = 1 + (shiftKey ? 1 : 0) + (altKey ? 2 : 0) + (ctrlKey ? 4 : 0);
  const cursor = cursorKeys[key];
  if (cursor !== undefined) {
    if (modifier > 1) return `${escape}[1;${modifier}${cursor}`;
    return `${escape}${isApplicationMode ? 'O' : '['}${cursor}`;
  }
  const number = numbered[key];
  if (number !== undefined) {
    if (shiftKey && key !== 'Delete' && !key.startsWith('F')) return undefined;
    return modifier > 1 ? `${escape}[${number};${modifier}~` : `${escape}[${number}~`;
  }
  const letter = functionKeys[key];
  if (letter !== undefined) return modifier > 1 ? `${escape}[1;${modifier}${letter}` : `${escape}O${letter}`;
  const alt = altKey ? escape : '';
  if (key === 'Enter') return `${alt}\r`;
  if (key === 'Escape') return `${alt}${escape}`;
  if (key === 'Backspace') return `${alt}${ctrlKey ? '\b' : '\u007f'}`;
  if (key === 'Tab') return shiftKey || ctrlKey || altKey ? undefined : '\t';
  // A character that AltGr makes has both modifiers.
  if (key.length !== 1 || (ctrlKey && altKey)) return undefined;
  if (ctrlKey) return controlCharacter(key, shiftKey);
  return altKey && /^[\u0020-\u007e]$/.test(key) ? `${escape}${key}` : undefined;
}

function controlCharacter(key: string, shiftKey: boolean): string | undefined {
  const control = controls[key];
  if (control !== undefined) return String.fromCharCode(control);
  // Ctrl+V pastes; with Shift, the letters are commands of the browser.
  if (shiftKey || !/^[a-z]$/.test(key) || key === 'v') return undefined;
  return String.fromCharCode(key.charCodeAt(0) - 96);
}

/** Returns what a terminal sends for pasted text. The text cannot end the paste early. */
export function pastedText(text: string, isBracketed: boolean): string {
  const lines = text.replace(/\r?\n/g, '\r').replaceAll(escape, '');
  return isBracketed ? `${escape}[200~${lines}${escape}[201~` : lines;
}
