/** What may be a secret, under which name, and how texts name one: `secret:NAME`. Pure. */

import { TirelessError } from '../domain/error.ts'
import { FEWEST_LETTERS, lettersOf } from './finder.ts'

const NAME = '[A-Za-z](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9_])?'
const WHOLE_NAME = new RegExp(`^${NAME}$`)
/** As it is named, or as it was shown where it had been hidden. */
const MENTION = new RegExp(`‹secret:(${NAME})›|\\bsecret:(${NAME})`, 'g')
const MOST_CHARACTERS = 64 * 1024

/** Contract: throws `usage`; says nothing of the value. */
export function refuseUnfit(name: string, value: string): void {
  const refused = (what: string, got: string, expected: string, fix?: string): TirelessError =>
    new TirelessError('usage', { what, where: 'secrets set', got, expected, fix })
  if (!WHOLE_NAME.test(name))
    throw refused('this is no name for a secret', name, 'a letter, then letters, digits, `_`, `.` or `-`, at most 64')
  if (!value.isWellFormed() || value.includes('\0') || value.includes('\uFFFD'))
    throw refused('a secret is text', 'something else', 'text in UTF-8', 'encode it first, for example with base64')
  if (value.length > MOST_CHARACTERS)
    throw refused('the secret is too long', `${value.length} characters`, `at most ${MOST_CHARACTERS}`)
  const letters = lettersOf(value).length
  if (letters < FEWEST_LETTERS)
    throw refused(
      'the secret is too short: so few characters are found in every other word, and to hide them would make texts unreadable',
      `${letters} characters, blanks and backslashes aside`,
      `at least ${FEWEST_LETTERS}`,
      'make a longer one',
    )
  if (`secret:${name}`.includes(value))
    throw refused('the name would give the secret away', 'a value that stands in its name', 'another name')
}

/** Contract: every mention in the text replaced by what `valueFor` says. */
export function filled(text: string, valueFor: (name: string) => string): string {
  return text.replaceAll(MENTION, (_, shown: string | undefined, named: string) => valueFor(shown ?? named))
}

/** Contract: the names that a text mentions. */
export const mentionedIn = (text: string): readonly string[] =>
  [...text.matchAll(MENTION)].map(([, shown, named]) => shown ?? named ?? '')
