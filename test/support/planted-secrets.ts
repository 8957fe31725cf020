/** Secrets of many shapes and their common encodings: tests plant them and then search all output for them. */

export const SECRET_SHAPES: Readonly<Record<string, string>> = {
  token: 'ghx_9f8Ae7Dc6Ba5Zy4Xw3Vu2Ts1Rq0Po',
  short: 'zq7#Kd',
  phrase: 'correct horse battery 9 staple',
  pattern: '^a.*(b|c)[d]{2}\\d+$?',
  quotes: `he said "it's" \\ <b>&amp; 42`,
  Chinese: '芝麻开门吧一二三四五六',
  padded: 'c2VjcmV0LXZhbHVlLTEyMw==',
  address: 'postgres://joe:s3cr3t@db.example/x?y=1&z=2',
  json: JSON.stringify({ type: 'service_account', private_key_id: '0f1e2d3c4b5a69788796a5b4c3d2e1f0', n: 7 }, null, 2),
  lines: 'first line 1a2b3c\n\tsecond line 4d5e6f\r\nthird 7g8h9i',
  pem: [
    '-----BEGIN PRIVATE KEY-----',
    ...Array.from({ length: 20 }, (_, i) => keyLine(i)),
    '-----END PRIVATE KEY-----\n',
  ].join('\n'),
  emoji: '🔑key-🔒-4711-ÄÖÜ',
}

export function keyLine(i: number): string {
  return Buffer.from(Array.from({ length: 48 }, (_, j) => (i * 31 + j * j * 7 + i * j * 13) % 256)).toString('base64')
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64')
const wrapped = (text: string, width: number): string => text.match(new RegExp(`.{1,${width}}`, 'g'))?.join('\n') ?? ''

export const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  'base64, alone': base64,
  'base64 with one character before it': (text) => base64(`x${text}y`),
  'base64 with two characters before it': (text) => base64(`xx${text}yy`),
  'base64, in lines of 76': (text) => wrapped(base64(`user:${text}`), 76),
  'base64 for URLs': (text) => Buffer.from(text).toString('base64url'),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex in lines': (text) => wrapped(Buffer.from(text).toString('hex').toUpperCase(), 60),
  'hex in pairs': (text) => Buffer.from(text).toString('hex').match(/../g)?.join(':') ?? '',
  'hex, escaped': (text) => Buffer.from(text).toString('hex').replaceAll(/../g, '\\x$&'),
  'base64 of base64': (text) => base64(base64(text)),
  URL: encodeURIComponent,
  'a path of a URL': (text) => encodeURIComponent(text).replaceAll('%2F', '/'),
  'one name in a path of a URL': (text) =>
    encodeURIComponent(text).replaceAll(/%(24|26|2B|3D|3A|40)/g, decodeURIComponent),
  'a URL in a URL': (text) => encodeURIComponent(encodeURIComponent(text)),
  'a form': (text) => new URLSearchParams({ text }).toString().slice(5),
  JSON: (text) => JSON.stringify({ text }),
  'JSON in JSON': (text) => JSON.stringify(JSON.stringify({ text })),
  'JSON in ASCII': (text) =>
    JSON.stringify(text).replaceAll(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
  HTML: (text) =>
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;'),
  backwards: (text) => [...text].reverse().join(''),
}
