/** Checks names and values of secrets, and finds references to secrets (`secret:NAME`) in texts. Pure. */

import { TirelessError } from '../domain/error.ts'
import { isStandIn } from './ordinary-values.ts'
import { MIN_LETTERS, significantLetters } from './secret-matcher.ts'

const NAME = '[A-Za-z](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9_])?'
const WHOLE_NAME = new RegExp(`^${NAME}$`)
/** A reference `secret:NAME`, or the placeholder of a redacted value; one with a tag stands for another text. */
const REFERENCE = new RegExp(`‹secret:(${NAME})›|(?<!‹)\\bsecret:(${NAME})`, 'g')
const MAX_CHARACTERS = 64 * 1024

/** Contract: throws `usage` if the name or value is invalid; the message never contains the value. */
export function checkSecret(name: string, value: string): void {
  const refused = (what: string, got: string, expected: string, fix?: string): TirelessError =>
    new TirelessError('usage', { what, where: 'secrets set', got, expected, fix })
  if (!WHOLE_NAME.test(name))
    throw refused(
      'the name of the secret is not valid',
      name,
      'a letter, then letters, digits, `_`, `.` or `-`; at most 64 characters',
    )
  if (!value.isWellFormed() || value.includes('\0') || value.includes('\uFFFD'))
    throw refused('the secret is not text', 'binary data', 'UTF-8 text', 'encode it first, for example with base64')
  if (value.length > MAX_CHARACTERS)
    throw refused('the secret is too long', `${value.length} characters`, `at most ${MAX_CHARACTERS}`)
  const letters = significantLetters(value).length
  if (letters < MIN_LETTERS)
    throw refused(
      'the secret is too short: redacting it would make other texts unreadable',
      `${letters} characters, without blanks and backslashes`,
      `at least ${MIN_LETTERS}`,
      'use a longer secret',
    )
  if (isStandIn(value))
    throw refused(
      'that is no secret, but what programs are given that need no key; redacting it would make other texts unreadable',
      'a word that is commonly used in place of a key',
      'the secret itself',
      'leave it out; if a server wants it, write it into the configuration, such as `api_key: ollama`',
    )
  if (`secret:${name}`.includes(value))
    throw refused('the name reveals the secret', 'a name that contains the value', 'another name')
}

/** Contract: returns the text with each reference replaced by the result of `valueFor`. */
export function fillReferences(text: string, valueFor: (name: string) => string): string {
  return text.replaceAll(REFERENCE, (_, shown: string | undefined, named: string) => valueFor(shown ?? named))
}

/** Contract: returns the names of the secrets that the text refers to. */
export const referencedSecrets = (text: string): readonly string[] =>
  [...text.matchAll(REFERENCE)].map(([, shown, named]) => shown ?? named ?? '')
