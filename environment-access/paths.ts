/** Path on every host of an environment with restricted access that the API answers itself. */
export const GATE_PATH = '/.coppice/access';
/** Query parameter of that path with the path that a visitor who logs in returns to. */
export const RETURN_PARAMETER = 'rd';

/** Path at which Traefik asks about a request. */
export const FORWARD_AUTH_PATH = '/forward-auth';
/** Path at which ingress-nginx asks about a request to the environment whose ID follows. */
export const INGRESS_NGINX_PATH = '/ingress-nginx/';
