/**
 * Values that stand where a secret is expected, and are none: redacting them would make ordinary texts unreadable, and
 * files that contain them could not be written. Pure.
 */

/** What people write where a program wants a key and the server needs none. */
const STAND_INS: ReadonlySet<string> = new Set(
  `ollama lmstudio lm-studio llamacpp llama.cpp llama-cpp vllm localai litellm openai postgres none null empty dummy
  fake test testing local localhost unused anything example placeholder changeme change-me api-key api_key apikey
  your-api-key your_api_key my-api-key dummy-key not-needed not_needed notneeded not-used not-required no-key no_key
  nokey no-key-needed no-key-required sk-no-key-required sk-dummy sk-fake sk-none sk-local sk-test`.split(/\s+/),
)

/** True for the words of the list, the same character many times, and texts such as `<your key>`. */
export const isStandIn = (value: string): boolean =>
  STAND_INS.has(value.trim().toLowerCase()) || /^(.)\1*$/.test(value.trim()) || /^<[^<>]*>$/.test(value.trim())

const MIN_LENGTH = 8
const SHORT_WORD = /^[a-z]{1,12}$/
/** No word of a European language lacks vowels or has so many consonants in a row; few random texts do not. */
const RANDOM_LETTERS = /^[^aeiouy]+$|[^aeiouy]{4}|[aeiouy]{4}/

/**
 * Contract: true if a value of the configuration is too ordinary to be redacted. Values that the owner stored as
 * secrets are redacted all the same, unless they are stand-ins.
 */
export const isOrdinaryValue = (value: string): boolean =>
  value.length < MIN_LENGTH || isStandIn(value) || (SHORT_WORD.test(value) && !RANDOM_LETTERS.test(value))
