/**
 * Finds credentials in outgoing text: words that announce a credential ("password"), and strings that look like a
 * credential.
 */

const CREDENTIAL_WORDS = new RegExp(
  [
    String.raw`pass(?:word|wd|phrase|code)s?\b|credentials?\b|secret[ _-]?keys?\b|private[ _-]?keys?\b`,
    String.raw`api[ _-]?(?:key|token)s?\b|access[ _-]?(?:key|token)s?\b|\b(?:otp|2fa|tan|cvv|cvc|pin)\b`,
    String.raw`(?:verification|security|recovery|login)[ _-]?codes?\b|seed[ _-]?phrase|passwort|kennwort`,
    'mot de passe|contraseña|пароль|密码|口令|验证码|私钥|密钥|パスワード',
  ].join('|'),
  'giu',
)
const KEY_PATTERNS = new RegExp(
  [
    String.raw`-----BEGIN [A-Z ]+-----|\b(?:sk|pk|rk|ghp|gho|github_pat|xox[abpr]|glpat|npm)[-_][\w-]{3,}`,
    String.raw`\bAKIA[0-9A-Z]{12,}|\beyJ[\w-]{8,}\.[\w-]{8,}|\b4\d{3}(?:[ -]?\d{4}){3}\b`,
    String.raw`\b5[1-5]\d{2}(?:[ -]?\d{4}){3}\b`,
  ].join('|'),
  'gu',
)

export const findCredentials = (text: string): readonly string[] => [
  ...new Set([...(text.match(CREDENTIAL_WORDS) ?? []), ...(text.match(KEY_PATTERNS) ?? [])]),
]
