/** The key that sends what was written. */

/** Safari says so of a key that an input method takes, and ends the word before. */
const TAKEN_KEY_CODE = 229

/** Contract: Enter, but not one that starts a new line or ends a word in an input method, for example for Chinese. */
export const isSendKey = ({ key, shiftKey, isComposing, keyCode }: KeyboardEvent): boolean =>
  key === 'Enter' && !shiftKey && !isComposing && keyCode !== TAKEN_KEY_CODE
