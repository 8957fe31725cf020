/** Credentials in what is said to others: words that announce one, and texts that look like one. */

const ANNOUNCED =
  /pass(?:word|wd|phrase|code)s?\b|credentials?\b|secret[ _-]?keys?\b|private[ _-]?keys?\b|api[ _-]?(?:key|token)s?\b|access[ _-]?(?:key|token)s?\b|\b(?:otp|2fa|tan|cvv|cvc|pin)\b|(?:verification|security|recovery|login)[ _-]?codes?\b|seed[ _-]?phrase|passwort|kennwort|mot de passe|contraseña|пароль|密码|口令|验证码|私钥|密钥|パスワード/giu
const KEYS =
  /-----BEGIN [A-Z ]+-----|\b(?:sk|pk|rk|ghp|gho|github_pat|xox[abpr]|glpat|npm)[-_][\w-]{3,}|\bAKIA[0-9A-Z]{12,}|\beyJ[\w-]{8,}\.[\w-]{8,}|\b4\d{3}(?:[ -]?\d{4}){3}\b|\b5[1-5]\d{2}(?:[ -]?\d{4}){3}\b/gu

export const credentialsIn = (text: string): readonly string[] => [
  ...new Set([...(text.match(ANNOUNCED) ?? []), ...(text.match(KEYS) ?? [])]),
]
