# What kind's images/base/Dockerfile and `kind build node-image` do, from Debian packages and the programs built here.
FROM debian:bookworm-slim AS network
RUN apt-get update \
 && apt-get install -y --no-install-recommends conntrack iptables kmod nftables \
 && rm -rf /var/lib/apt/lists/*
FROM network AS system
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      ca-certificates curl dbus e2fsprogs ethtool hostname iproute2 jq libseccomp2 mount \
      procps runc systemd systemd-sysv util-linux \
 && rm -rf /var/lib/apt/lists/* /var/log/journal \
 # or every node has the same
 && rm -f /etc/machine-id /var/lib/dbus/machine-id \
 && find /lib/systemd/system/sysinit.target.wants/ -name systemd-tmpfiles-setup.service -delete \
 && rm -f /lib/systemd/system/multi-user.target.wants/* /lib/systemd/system/local-fs.target.wants/* \
      /lib/systemd/system/basic.target.wants/* /lib/systemd/system/sockets.target.wants/*udev* \
      /lib/systemd/system/sockets.target.wants/*initctl* /etc/systemd/system/*.wants/* \
 # no negative OOM scores and no raised limits, which need CAP_SYS_RESOURCE
 && sed -i '/^OOMScoreAdjust=/d; /^Limit/d' /lib/systemd/system/dbus.service /lib/systemd/system/systemd-journald.service \
 && echo ReadKMsg=no >>/etc/systemd/journald.conf
FROM system
ADD node.tar /
# The control plane's images start from the same Debian packages as the node, so equal files are in the image once. Docker
# mounts its own files in /etc during this.
RUN cd /kind/snapshots && find . -type f -size +0 ! -path '*/usr/local/bin/node' ! -path './*/etc/*' -exec sh -ec \
      'for file; do \
         mine=/${file#./*/}; \
         if [ ! -L "$mine" ] && cmp -s "$mine" "$file" && [ "$(stat -c %a:%u:%g "$mine")" = "$(stat -c %a:%u:%g "$file")" ]; \
         then ln -f "$mine" "$file"; fi; \
       done' sh {} +
RUN systemctl enable kubelet.service containerd.service network-policy-agent.service undo-mount-hacks.service \
 && systemctl mask systemd-binfmt.service
