import { StoreError } from '../store-error.ts';

/** The members as URLs. @throws {StoreError} STORE_REQUEST_INVALID that says which is none, and why */
export function readEndpoints(
  endpoints: readonly string[],
  { cert, key }: { readonly cert?: string; readonly key?: string },
): readonly URL[] {
  if (endpoints.length === 0) throw invalid('no endpoint is given', 'such as https://192.0.2.1:2379');
  if ((cert === undefined) !== (key === undefined)) throw invalid('a certificate and its key go together');
  return endpoints.map((text) => {
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol)) {
      throw invalid(`endpoint ${text}: not a URL of http or https`, 'such as https://192.0.2.1:2379');
    }
    if (url.username !== '' || url.password !== '') {
      throw invalid(`endpoint ${url.host}: credentials do not belong into a URL`);
    }
    if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
      throw invalid(`endpoint ${text}: there is something behind the port`);
    }
    if (url.protocol === 'http:' && cert !== undefined) {
      throw invalid(`endpoint ${text}: a certificate is given, but http does not use one`);
    }
    return url;
  });
}

function invalid(message: string, hint?: string): StoreError {
  return new StoreError('STORE_REQUEST_INVALID', `etcd: ${message}`, hint === undefined ? {} : { hint });
}
