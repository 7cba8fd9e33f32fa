"""host_report: what did we ask of a host?"""
