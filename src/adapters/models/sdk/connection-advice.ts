/** What to do if a provider cannot be reached, or if its address is wrong. Pure. */

/** Where requests go, for messages. */
export interface ProviderAddress {
  readonly baseUrl: string
  /** The setting or variable to correct; undefined if the caller has none. */
  readonly setting: string | undefined
}

const settingOf = ({ setting = 'base_url' }: ProviderAddress): string => setting

const ADVICE: readonly (readonly [codes: RegExp, (at: ProviderAddress) => string])[] = [
  [
    /^ECONNREFUSED$/,
    (at) => `start the server at ${hostOf(at)}, or correct ${settingOf(at)}: no program listens at that port`,
  ],
  [
    /^(?:ENOTFOUND|EAI_\w+)$/,
    (at) => `check the network connection, and the host name ${hostOf(at)} in ${settingOf(at)}`,
  ],
  [
    /^(?:EPROTO|ERR_SSL_\w+)$/,
    (at) => `check ${settingOf(at)}: if the server has no certificate, its address begins with http://`,
  ],
  [
    /CERT|SIGNATURE|UNABLE_TO_(?:GET|VERIFY|DECRYPT)|ERR_TLS/,
    (at) =>
      `check ${settingOf(at)}; if the certificate is from your own authority, set NODE_EXTRA_CA_CERTS to its file`,
  ],
]

/** Contract: advice for a request that failed with this code of the system or the HTTP client. */
export function adviseOnConnection(code: string, at: ProviderAddress): string {
  const advice = ADVICE.find(([codes]) => codes.test(code))?.[1]
  return advice?.(at) ?? `check the network connection and ${settingOf(at)}, or try again later`
}

/** Contract: advice for a server that answers, but not as a model provider does. */
export const adviseOnAddress = (at: ProviderAddress): string =>
  `check ${settingOf(at)}: ${at.baseUrl} answers, but not as a model provider`

/** Contract: advice for a redirect, which is never followed: it could send the prompt to another host. */
export const adviseOnRedirect = (location: string | undefined, at: ProviderAddress): string =>
  `set ${settingOf(at)} to the new address${location === undefined ? '' : `; the server names ${location}`}`

const VERSION_PART = /\/v\d+[a-z\d]*(?:\/|$)/i

/** Contract: advice for a server that has no such address or model. Names the address, and another form. */
export function adviseOnNotFound(requested: string | undefined, at: ProviderAddress): string {
  const other = VERSION_PART.test(at.baseUrl) ? '' : `, for example to ${at.baseUrl}/v1`
  return (
    `check the name of the model; if it is right, change ${settingOf(at)}${other}. ` +
    `The request went to ${requested ?? at.baseUrl}`
  )
}

const hostOf = ({ baseUrl }: ProviderAddress): string => URL.parse(baseUrl)?.host ?? baseUrl
